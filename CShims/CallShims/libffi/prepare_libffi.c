// SPDX-License-Identifier: Apache-2.0
/// Describes calls to libffi.
#include "fwd_libffi.h"

/// The type of a structure. Its size is preset, so that `ffi_prep_cif` does not compute another from
/// the elements: these only tell the class of each word.
typedef struct Composite {
  ffi_type type;
  ffi_type *elements[5];
} Composite;

// The others are addresses.
static ffi_type *const scalars[UINT8_MAX + 1] = {
    [FWDKindNothing] = &ffi_type_void,
    [FWDKindInt8] = &ffi_type_sint8,
    [FWDKindUInt8] = &ffi_type_uint8,
    [FWDKindInt16] = &ffi_type_sint16,
    [FWDKindUInt16] = &ffi_type_uint16,
    [FWDKindInt32] = &ffi_type_sint32,
    [FWDKindUInt32] = &ffi_type_uint32,
    [FWDKindInt64] = &ffi_type_sint64,
    [FWDKindUInt64] = &ffi_type_uint64,
    [FWDKindBool] = &ffi_type_uint8,
    [FWDKindFloat] = &ffi_type_float,
    [FWDKindDouble] = &ffi_type_double,
    [FWDKindLongDouble] = &ffi_type_longdouble,
    [FWDKindComplexFloat] = &ffi_type_complex_float,
    [FWDKindComplexDouble] = &ffi_type_complex_double,
    [FWDKindComplexLongDouble] = &ffi_type_complex_longdouble,
};

static int is_composite(const FWDSlot *slot) {
  return slot->kind == FWDKindAggregate || slot->kind == FWDKindInt128 ||
         slot->kind == FWDKindUInt128;
}

/// The type of a word on x86-64. An element of x87 makes libffi pass even a small structure in
/// memory.
static ffi_type *word_type(FWDClass class) {
  switch (class) {
    case FWDClassInteger: return &ffi_type_uint64;
    case FWDClassVector: return &ffi_type_double;
    default: return &ffi_type_longdouble;
  }
}

static ffi_type *composite_type(const FWDSlot *slot, Composite *made) {
  uint32_t count = 1;
  made->elements[0] = &ffi_type_uint64;
  if (FWD_ABI_SYSV && slot->size <= 16) {
    made->elements[0] = word_type(slot->first);
    if (slot->second != FWDClassNone) made->elements[count++] = word_type(slot->second);
  } else if (FWD_ABI_AAPCS64 && slot->component_count) {
    count = slot->component_count;
    for (uint32_t i = 0; i < count; i++) made->elements[i] = scalars[slot->component];
  }
  made->elements[count] = NULL;
  made->type = (ffi_type){slot->size, slot->alignment, FFI_TYPE_STRUCT, made->elements};
  return &made->type;
}

static ffi_type *type_of(const FWDSlot *slot, Composite *made) {
  if (slot->size == 0) return &ffi_type_void;
  // A structure of one `long double` is returned like the number.
  if (slot->route == FWDRouteX87)
    return slot->first == FWDClassX87 ? &ffi_type_longdouble : &ffi_type_complex_longdouble;
  if (is_composite(slot)) return composite_type(slot, made);
  return scalars[slot->kind] ? scalars[slot->kind] : &ffi_type_pointer;
}

size_t fwd_libffi_size(const FWDPlan *plan) {
  size_t count = plan->facts.argument_count;
  return sizeof(ffi_cif) + count * sizeof(ffi_type *) + (count + 1) * sizeof(Composite);
}

ffi_cif *fwd_libffi_prepare(const FWDPlan *plan, void *memory) {
  uint32_t arguments = plan->facts.argument_count, count = 0, fixed = 0;
  ffi_cif *cif = memory;
  ffi_type **types = (ffi_type **)(cif + 1);
  Composite *composites = (Composite *)(types + arguments);
  // Two cifs of one type have the same bytes.
  memset(cif, 0, sizeof *cif);
  for (uint32_t i = 0; i < arguments; i++) {
    if (i == plan->fixed_count) fixed = count;
    if (plan->slots[i].size) types[count++] = type_of(&plan->slots[i], &composites[i + 1]);
  }
  ffi_type *result = type_of(&plan->facts.result, &composites[0]);
  ffi_status status =
      plan->fixed_count < arguments
          ? ffi_prep_cif_var(cif, FFI_DEFAULT_ABI, fixed, count, result, types)
          : ffi_prep_cif(cif, FFI_DEFAULT_ABI, count, result, types);
  // These types are valid, and the convention is libffi's own.
  if (status != FFI_OK) __builtin_trap();
  return cif;
}

/// Whether libffi 3.4.4 passes a value otherwise than compilers do. Delete a line when every libffi
/// in use passes such values right.
static int is_wrong(const FWDPlan *plan, const FWDSlot *slot) {
  int is_result = slot == &plan->facts.result, is_small = slot->size <= 16;
  if (slot->size == 0 || !is_composite(slot)) return 0;
  // Which structures a processor passes in registers, only compilers know.
  if (!FWD_KNOWS_PROCESSOR) return 1;
  if (FWD_ABI_SYSV) {
    // A word of padding alone has no register.
    if (is_small && slot->size > 8 && slot->second == FWDClassNone &&
        (slot->first == FWDClassInteger || slot->first == FWDClassVector))
      return 1;
    // A small result in memory, of a packed structure.
    if (is_result) return is_small && slot->route == FWDRouteHiddenPointer;
    // Issue 574: both words of such a structure are written where the last integer register is
    // loaded from, and the second one overwrites a vector register.
    return slot->route == FWDRouteRegisters && slot->first == FWDClassInteger &&
           slot->second == FWDClassVector &&
           slot->offset == offsetof(FWDFrame, integers[5]);
  }
  if (is_result || slot->component_count) return 0;
  // A value with an alignment of 16 begins at an even register.
  if (is_small) return slot->alignment == 16;
  // For the address of a copy, room is reserved in registers alone.
  for (uint32_t i = 0; i < plan->copied_count; i++)
    if (plan->copied[i].slot == slot) return plan->copied[i].address >= FWD_FRAME_STACK;
  return 0;
}

int fwd_libffi_refuses(const FWDPlanFacts *facts) {
  const FWDPlan *plan = (const FWDPlan *)facts;
  if (is_wrong(plan, &facts->result)) return 0;
  for (uint32_t i = 0; i < facts->argument_count; i++)
    if (is_wrong(plan, &plan->slots[i])) return (int)i + 1;
  return -1;
}
