// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "fwd_engine.h"

// A checked build (`-Xcc -DFWD_CHECKED`) makes rare paths common: few holds, no pools, poisoned
// memory. The whole test suite passes in it.
#if defined(FWD_CHECKED)
#define FWD_IS_CHECKED 1
#else
#define FWD_IS_CHECKED 0
#endif

#pragma clang assume_nonnull begin

// All code in this folder moves values as words of 8 bytes.
_Static_assert(sizeof(void *) == 8, "a pointer fills a word of 8 bytes");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "a small value is the low bytes of its word");

/// How many stack words, or words of a large result, `FWDScopedFrame` has room for.
#define FWD_SCOPED_STACK_WORDS 16

/// The bit of the complex numbers' kinds, beside the letter of their parts.
#define FWD_COMPLEX 0x80

/// How a value is stored and passed: the letter of its type in an encoding. Swift types are matched
/// against it.
typedef enum __attribute__((enum_extensibility(closed))) FWDKind : uint8_t {
  FWDKindNothing = 0,
  FWDKindInt8 = 'c',
  FWDKindUInt8 = 'C',
  FWDKindInt16 = 's',
  FWDKindUInt16 = 'S',
  FWDKindInt32 = 'i',
  FWDKindUInt32 = 'I',
  FWDKindInt64 = 'q',
  FWDKindUInt64 = 'Q',
  FWDKindBool = 'B',
  FWDKindInt128 = 't',
  FWDKindUInt128 = 'T',
  FWDKindFloat = 'f',
  FWDKindDouble = 'd',
  FWDKindLongDouble = 'D',
  FWDKindComplexFloat = FWD_COMPLEX | 'f',
  FWDKindComplexDouble = FWD_COMPLEX | 'd',
  FWDKindComplexLongDouble = FWD_COMPLEX | 'D',
  FWDKindCString = '*',
  FWDKindObject = '@',
  FWDKindBlock = '%',
  FWDKindClassReference = '#',
  FWDKindSelector = ':',
  FWDKindPointer = '^',
  FWDKindFunctionPointer = '?',
  /// The address of a Swift value, which C may pass on, but not dereference.
  FWDKindSwiftValue = '$',
  /// A structure, a union or a complex integer.
  FWDKindAggregate = '{',
} FWDKind;

/// Which registers an eightbyte of a value takes, in the terms of the System V ABI.
typedef enum __attribute__((enum_extensibility(closed))) FWDClass : uint8_t {
  FWDClassNone = 0,
  FWDClassInteger,
  FWDClassVector,
  /// `long double`: an argument is passed in memory, a result on the x87 stack.
  FWDClassX87,
  /// `long double _Complex`: an argument is passed in memory, a result in two x87 registers.
  FWDClassComplexX87,
  FWDClassMemory,
} FWDClass;

/// The type of one result or argument, as the input for finding its place.
typedef struct FWDValue {
  uint32_t size;
  uint32_t alignment;
  FWDKind kind;
  /// The classes of the first and second eightbyte.
  FWDClass first;
  FWDClass second;
  /// The floating-point type of all members, and their number, if there is just one type and at
  /// most four members; a plain number has one. For ABIs that pass such aggregates in vector
  /// registers.
  FWDKind component;
  uint8_t component_count;
} FWDValue;

/// How a value is passed.
typedef enum __attribute__((enum_extensibility(closed))) FWDRoute : uint8_t {
  /// An empty structure: it is not passed.
  FWDRouteNowhere = 0,
  FWDRouteRegisters,
  FWDRouteStack,
  /// Through a pointer that the caller passes in front of the arguments (results only).
  FWDRouteHiddenPointer,
  FWDRouteX87,
} FWDRoute;

/// Not a valid offset: 0 is that of the first integer register.
#define FWD_NOT_SPLIT UINT32_MAX
#define FWD_NOWHERE FWD_NOT_SPLIT

/// The place of one value in a frame. All code that gets, sets or gathers a value uses it.
typedef struct FWDSlot {
  /// The offset of the first eight bytes, or of the whole value if it is in one piece.
  uint32_t offset;
  /// The offset of the bytes from the eighth on, if the value is split over two registers; else
  /// `FWD_NOT_SPLIT`.
  uint32_t second_offset;
  uint32_t size;
  /// The number of bytes at `offset`: all bytes of a value in memory, one member of a spread value, or
  /// what is there before `second_offset`. A value can be larger than its pieces: an eightbyte of
  /// padding alone takes no register.
  uint32_t head;
  /// At most 16.
  uint8_t alignment;
  FWDKind kind;
  /// The kind before the promotion of a variadic argument; otherwise equal to `kind`.
  FWDKind declared;
  FWDRoute route;
  FWDClass first;
  FWDClass second;
  /// As in `FWDValue`.
  FWDKind component;
  uint8_t component_count;
} FWDSlot;

_Static_assert(sizeof(FWDSlot) == 24, "a slot's address is computed for every argument");

/// The distance of vector registers in a frame.
#if FWD_ABI_AAPCS64
#define FWD_FRAME_VECTOR 16
#else
#define FWD_FRAME_VECTOR 8
#endif

/// Whether the members of a value are in vector registers, one in each: `head` bytes at `offset`,
/// and further ones at the distance of the registers.
static inline int fwd_slot_is_spread(const FWDSlot *slot) {
  return FWD_ABI_AAPCS64 && slot->head < slot->size;
}

/// Returns the number of words that have a value's bytes: eight of them in each, or one member of a
/// spread value.
static inline uint32_t fwd_slot_words(const FWDSlot *slot) {
  return fwd_slot_is_spread(slot) ? slot->size / slot->head : (slot->size + 7) / 8;
}

/// Returns the offset in a frame of word `word` of a value. `FWD_NOWHERE` for words behind the last one,
/// and for an eightbyte of padding alone.
static inline uint32_t fwd_slot_word(const FWDSlot *slot, uint32_t word) {
  if (fwd_slot_is_spread(slot))
    return word * slot->head < slot->size ? slot->offset + FWD_FRAME_VECTOR * word : FWD_NOWHERE;
  if (8 * word < slot->head) return slot->offset + 8 * word;
  // FWD_NOT_SPLIT is FWD_NOWHERE.
  return word == 1 ? slot->second_offset : FWD_NOWHERE;
}

/// The beginning of a frame: the registers of a call, and its result. Stack words follow, and then
/// values that are in neither: a result in memory, and on AArch64 the values that are passed by
/// address. A frame is aligned to 16 bytes.
///
/// Each register slot is written as a whole: a narrow store followed by a wide load of the same
/// word stalls the processor for longer than the call takes.
#if FWD_ABI_AAPCS64
typedef struct FWDFrame {
  uint64_t integers[8];
  /// Whole registers, as a quad fills one.
  double vectors[8][2];
  /// A result in registers: four quads at most, packed as in memory.
  uint64_t result[8];
} FWDFrame;
#else
typedef struct FWDFrame {
  uint64_t integers[6];
  double vectors[8];
  /// A result of up to 16 bytes, or two x87 registers.
  uint64_t result[4];
} FWDFrame;
#endif

_Static_assert(offsetof(FWDFrame, integers) == 0, "offset 0 is the first integer register");
_Static_assert(offsetof(FWDFrame, vectors) == sizeof(((FWDFrame *)0)->integers),
               "vectors follow the integers");
_Static_assert(offsetof(FWDFrame, result) == offsetof(FWDFrame, vectors) + 8 * FWD_FRAME_VECTOR,
               "the result follows all registers");
_Static_assert(offsetof(FWDFrame, result) % 16 == 0, "a quad may be a result");
_Static_assert(sizeof(FWDFrame) == offsetof(FWDFrame, result) + sizeof(((FWDFrame *)0)->result),
               "nothing is behind the result");
_Static_assert(sizeof(FWDFrame) % 16 == 0, "stack words begin at a multiple of 16");

/// The state of an invocation beside its frame, in the 48 bytes in front of it. It is plain memory,
/// because the Swift runtime would check every change of a class's property for exclusivity.
typedef struct FWDInvocationState {
  /// Which of the first 64 arguments own their values.
  uint64_t owned;
  /// The selector word that was checked to be a selector; the bytes of a frame may have any value.
  uint64_t checked_selector;
  /// The number of the message, 0 until one is needed. Copies that carry a message share it, and it
  /// reveals a message that comes back. It is a number, because the address of a dead message would
  /// be reused.
  uint64_t message;
  /// The address of the invocation that owns the call; 0 for a call that is only on the stack.
  uintptr_t owner;
  uint8_t has_result;
  uint8_t result_ownership;
  /// Whether arguments are retained when they are set, and whether the target is.
  uint8_t retains_arguments : 1;
  uint8_t retains_target : 1;
  /// Whether the message has crossed to another thread, or owns the memory of its arguments.
  uint8_t has_attachments : 1;
  /// Whether the sender has an answer of its own where no target has one.
  uint8_t has_otherwise : 1;
  /// Whether all targets are called even if the awaiting task is cancelled.
  uint8_t is_uncancelled : 1;
  /// Whether the sender can throw no error, and so gets an answer even if another target failed.
  uint8_t cannot_throw : 1;
  /// Whether no target answered: the error of the send alone could be that of another message, which
  /// a target sent.
  uint8_t is_unanswered : 1;
  /// Whether the receiver in the frame is borrowed for the duration of a call, and must not be set.
  uint8_t is_target_lent;
  /// The number of running calls that use the values of the frame and the memory that they refer
  /// to. No stack has room for 2^32 nested calls.
  uint32_t uses;
  /// The word that is owned as the result, while one is owned. Code that a call runs may set a
  /// result; the answer then overwrites it.
  uint64_t owned_result;
} FWDInvocationState;

_Static_assert(sizeof(FWDInvocationState) == 48, "the frame behind it is aligned to 16 bytes");

/// Returns the frame behind a state. The memory behind the state, aligned to 16 bytes, must have
/// room for a frame of the plan.
static inline FWDFrame *fwd_state_frame(FWDInvocationState *state) {
  return (FWDFrame *)(state + 1);
}

/// A state and a frame large enough for most calls, on the stack, for calls that are not recorded.
typedef struct FWDScopedFrame {
  FWDInvocationState state;
  FWDFrame frame;
  uint64_t stack[FWD_SCOPED_STACK_WORDS];
} FWDScopedFrame;

_Static_assert(offsetof(FWDScopedFrame, frame) == sizeof(FWDInvocationState),
               "the frame stands right behind its state");
_Static_assert(offsetof(FWDScopedFrame, stack) - offsetof(FWDScopedFrame, frame) == sizeof(FWDFrame),
               "stack words follow the registers");

enum {
  FWD_FRAME_RESULT = offsetof(FWDFrame, result),
  FWD_FRAME_STACK = sizeof(FWDFrame),
  /// The most 8-byte words that may be passed on the stack.
  FWD_STACK_WORDS_MAX = 8192,
  /// The largest value that may be passed or returned, in bytes.
  FWD_VALUE_SIZE_MAX = 65536,
};

#pragma clang assume_nonnull end
