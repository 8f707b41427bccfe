// SPDX-License-Identifier: Apache-2.0
/// Describes values before they are placed, and finds their places for any machine.
#include "fwd_place_internal.h"

/// Applies the default argument promotions of C, which determine what a variadic function receives.
static void promote(FWDSlot *slot) {
  switch (slot->kind) {
    case FWDKindFloat:
      slot->kind = FWDKindDouble;
      slot->size = sizeof(double);
      slot->alignment = sizeof(double);
      if (slot->component_count) slot->component = FWDKindDouble;
      break;
    case FWDKindInt8:
    case FWDKindUInt8:
    case FWDKindInt16:
    case FWDKindUInt16:
    case FWDKindBool:
      slot->kind = FWDKindInt32;
      slot->size = sizeof(int);
      slot->alignment = sizeof(int);
      break;
    default: break;
  }
}

FWDSlot fwd_slot_describe(const FWDValue *value, int is_promoted) {
  FWDSlot slot = {.size = value->size,
                  .alignment = (uint8_t)value->alignment,
                  .second_offset = FWD_NOT_SPLIT,
                  .kind = value->kind,
                  .declared = value->kind,
                  .first = value->first,
                  .second = value->second,
                  .component = value->component,
                  .component_count = value->component_count};
  if (is_promoted) promote(&slot);
  return slot;
}

FWDStatus fwd_values_check(const FWDValue *values, size_t argument_count, size_t *out_index) {
  for (size_t i = 0; i <= argument_count; i++) {
    *out_index = i;
    // Stacks are aligned to 16 bytes, so a value with a larger alignment cannot be placed on one.
    if (values[i].alignment == 0 || values[i].alignment > 16) return FWDStatusUnsupportedValue;
    if (values[i].size > FWD_VALUE_SIZE_MAX) return FWDStatusTooLarge;
  }
  *out_index = 0;
  return FWDStatusOk;
}

FWDStatus fwd_place_for(FWDAbi abi, const FWDValue *values, size_t argument_count,
                        size_t fixed_count, FWDPlace *out_places, uint32_t *out_stack,
                        size_t *out_index) {
  const FWDRules *rules = abi == FWDAbiSysV ? &fwd_rules_sysv : &fwd_rules_aapcs64;
  FWDCursor cursor = {0, 0, 0, 0};
  *out_stack = 0;
  FWDStatus status = fwd_values_check(values, argument_count, out_index);
  for (size_t i = 0; i <= argument_count && status == FWDStatusOk; i++) {
    FWDSlot slot = fwd_slot_describe(&values[i], i > fixed_count);
    *out_index = i;
    out_places[i] = (FWDPlace){.route = FWDRouteNowhere};
    status = i == 0 ? rules->place_result(&slot, &cursor, &out_places[i])
                    : rules->place_argument(&slot, &cursor, &out_places[i]);
  }
  if (status != FWDStatusOk) return status;
  *out_index = 0;
  *out_stack = cursor.stack;
  return FWDStatusOk;
}

FWDRegister fwd_place_register(const FWDPlace *place, size_t index) {
  return place->registers[index < place->register_count ? index : 0];
}

#define NAMES(text) text "0", text "1", text "2", text "3", text "4", text "5", text "6", text "7"

const char *fwd_register_name(FWDAbi abi, FWDRegister where) {
  static const char *const names[2][4][9] = {
      [FWDAbiSysV] = {[FWDBankIntegers] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"},
                      [FWDBankIntegerResults] = {"rax", "rdx"},
                      [FWDBankVectors] = {NAMES("xmm")},
                      [FWDBankX87] = {"st0", "st1"}},
      [FWDAbiAAPCS64] = {[FWDBankIntegers] = {NAMES("x"), "x8"},
                         [FWDBankIntegerResults] = {"x0", "x1"},
                         [FWDBankVectors] = {NAMES("v")}}};
  const char *name = where.number < 9 ? names[abi][where.bank][where.number] : NULL;
  return name ? name : "?";
}
