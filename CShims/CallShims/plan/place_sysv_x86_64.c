/// Where arguments and results travel under the System V ABI of x86-64.
///
/// The rules are those of the psABI, section 3.2.3. Classes come from Swift, which walked the
/// types; this file only hands out registers and stack words.
#include "fwd_plan_internal.h"

#if FWD_HAS_DIRECT_ENGINE

enum { INTEGER_REGISTERS = 6, VECTOR_REGISTERS = 8 };

_Static_assert(sizeof((FWDFrame){0}.integers) == 8 * INTEGER_REGISTERS, "a word for each of them");
_Static_assert(sizeof((FWDFrame){0}.vectors) == 8 * VECTOR_REGISTERS, "a word for each of them");
_Static_assert(FWDArgumentsStack64 == FWDArgumentsStack4 + 4,
               "amounts of stack words follow each other, the smallest first");

/// Registers and stack that are still free.
typedef struct Cursor {
  uint32_t integers;
  uint32_t vectors;
  uint32_t stack;
} Cursor;

int fwd_has_direct_engine(void) { return 1; }

static int in_registers(FWDClass c) { return c == FWDClassInteger || c == FWDClassVector; }

static uint32_t take_register(Cursor *cursor, FWDClass class) {
  return class == FWDClassInteger
             ? offsetof(FWDFrame, integers) + 8 * cursor->integers++
             : offsetof(FWDFrame, vectors) + 8 * cursor->vectors++;
}

static FWDStatus place_result(FWDPlan *plan, Cursor *cursor) {
  FWDSlot *result = &plan->facts.result;
  result->offset = FWD_FRAME_RESULT;
  if (result->size == 0) {
    result->route = FWDRouteNowhere;
  } else if (result->first == FWDClassMemory) {
    // The pointer to the result travels in front of all arguments.
    result->route = FWDRouteHiddenPointer;
    cursor->integers = 1;
  } else if (result->first == FWDClassX87 || result->first == FWDClassComplexX87) {
    result->route = FWDRouteX87;
  } else if (in_registers(result->first)) {
    result->route = FWDRouteRegisters;
  } else {
    return FWDStatusUnsupportedValue;
  }
  fwd_slot_cut(result);
  return FWDStatusOk;
}

static FWDStatus place_argument(FWDSlot *slot, Cursor *cursor) {
  if (slot->size == 0) {
    slot->route = FWDRouteNowhere;
    slot->offset = FWD_FRAME_RESULT;
    return FWDStatusOk;
  }
  if (slot->first == FWDClassNone) return FWDStatusUnsupportedValue;
  uint32_t integers = (slot->first == FWDClassInteger) + (slot->second == FWDClassInteger);
  uint32_t vectors = (slot->first == FWDClassVector) + (slot->second == FWDClassVector);
  // A value travels in registers as a whole or not at all.
  if (in_registers(slot->first) && cursor->integers + integers <= INTEGER_REGISTERS &&
      cursor->vectors + vectors <= VECTOR_REGISTERS) {
    slot->route = FWDRouteRegisters;
    slot->offset = take_register(cursor, slot->first);
    if (in_registers(slot->second)) slot->second_offset = take_register(cursor, slot->second);
    fwd_slot_cut(slot);
    return FWDStatusOk;
  }
  slot->route = FWDRouteStack;
  uint32_t alignment = slot->alignment < 8 ? 8 : slot->alignment;
  cursor->stack = fwd_round_up(cursor->stack, alignment);
  slot->offset = FWD_FRAME_STACK + cursor->stack;
  fwd_slot_cut(slot);
  cursor->stack = fwd_round_up(cursor->stack + slot->size, 8);
  return cursor->stack > FWD_STACK_WORDS_MAX * 8 ? FWDStatusTooLarge : FWDStatusOk;
}

static FWDReturnShape return_shape(const FWDSlot *result) {
  if (result->route == FWDRouteNowhere || result->route == FWDRouteHiddenPointer)
    return FWDReturnNothing;
  if (result->first == FWDClassX87) return FWDReturnX87;
  if (result->first == FWDClassComplexX87) return FWDReturnComplexX87;
  if (result->first == FWDClassInteger)
    return result->second == FWDClassVector ? FWDReturnIntegerVector : FWDReturnIntegers;
  return result->second == FWDClassInteger ? FWDReturnVectorInteger : FWDReturnVectors;
}

static FWDArgumentShape argument_shape(const Cursor *cursor) {
  uint32_t words = cursor->stack / 8;
  if (words == 0) {
    if (cursor->vectors == 0) return FWDArgumentsIntegers;
    return cursor->vectors <= 2 ? FWDArgumentsVectors2 : FWDArgumentsVectors8;
  }
  if (cursor->vectors == 0 && words <= 8)
    return words <= 4 ? FWDArgumentsIntegersStack4 : FWDArgumentsIntegersStack8;
  if (words > fwd_stack_words(FWDArgumentsStack64)) return FWDArgumentsLarge;
  FWDArgumentShape shape = FWDArgumentsStack4;
  while (fwd_stack_words(shape) < words) shape++;
  return shape;
}

FWDStatus fwd_place_values(FWDPlan *plan, size_t *out_index) {
  FWDPlanFacts *facts = &plan->facts;
  Cursor cursor = {0, 0, 0};
  *out_index = 0;
  FWDStatus status = place_result(plan, &cursor);
  for (uint32_t i = 0; i < facts->argument_count && status == FWDStatusOk; i++) {
    *out_index = i + 1;
    status = place_argument(&plan->slots[i], &cursor);
  }
  if (status != FWDStatusOk) return status;

  FWDArgumentShape arguments = argument_shape(&cursor);
  facts->shape = fwd_shape(return_shape(&facts->result), arguments);
  facts->passed_words = cursor.stack / 8;
  // A shape copies all of its stack words, so the frame holds that many.
  facts->stack_words =
      arguments == FWDArgumentsLarge ? facts->passed_words : fwd_stack_words(arguments);
  uint32_t end = FWD_FRAME_STACK + facts->stack_words * 8;
  if (facts->result.route == FWDRouteHiddenPointer) {
    facts->result.offset = fwd_round_up(end, 16);
    end = facts->result.offset + facts->result.size;
  }
  facts->frame_size = fwd_round_up(end, 16);
  return FWDStatusOk;
}

#endif
