#pragma once

#include <stddef.h>
#include <stdint.h>

#include "fwd_engine.h"

// A checked build (`-Xcc -DFWD_CHECKED`) makes rare paths common: few holds, no pools, poisoned
// memory. The whole test suite runs in it.
#if defined(FWD_CHECKED)
#define FWD_IS_CHECKED 1
#else
#define FWD_IS_CHECKED 0
#endif

#pragma clang assume_nonnull begin

// All of this folder moves values as words.
_Static_assert(sizeof(void *) == 8, "a pointer fills a word of 8 bytes");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "a small value is the low bytes of its word");

/// The stack words, or the bytes of a large result, that `FWDScopedFrame` has room for.
#define FWD_SCOPED_STACK_WORDS 16

/// What a value is, as far as storing and passing it goes. Swift types are matched against it.
typedef enum __attribute__((enum_extensibility(closed))) FWDKind : uint8_t {
  FWDKindNothing = 0,
  FWDKindInt8,
  FWDKindUInt8,
  FWDKindInt16,
  FWDKindUInt16,
  FWDKindInt32,
  FWDKindUInt32,
  FWDKindInt64,
  FWDKindUInt64,
  FWDKindBool,
  FWDKindInt128,
  FWDKindUInt128,
  FWDKindFloat,
  FWDKindDouble,
  FWDKindLongDouble,
  FWDKindComplexFloat,
  FWDKindComplexDouble,
  FWDKindComplexLongDouble,
  FWDKindCString,
  FWDKindObject,
  FWDKindBlock,
  FWDKindClassReference,
  FWDKindSelector,
  FWDKindPointer,
  FWDKindFunctionPointer,
  /// The address of a Swift value, which C may pass on, but not look at.
  FWDKindSwiftValue,
  /// A structure, a union or a complex integer.
  FWDKindAggregate,
} FWDKind;

/// Which registers take an eightbyte of a value, in the words of the System V ABI.
typedef enum __attribute__((enum_extensibility(closed))) FWDClass : uint8_t {
  FWDClassNone = 0,
  FWDClassInteger,
  FWDClassVector,
  /// `long double`: an argument travels in memory, a result on the x87 stack.
  FWDClassX87,
  /// `long double _Complex`: likewise, with two results.
  FWDClassComplexX87,
  FWDClassMemory,
} FWDClass;

/// One result or argument type, ready to be placed.
typedef struct FWDValue {
  uint32_t size;
  uint32_t alignment;
  FWDKind kind;
  /// The classes of the first and second eightbyte.
  FWDClass first;
  FWDClass second;
  /// If all parts are of one floating type, and are no more than four: its kind, and how many there
  /// are; a bare number of such a type is one. For ABIs that pass such aggregates in vector registers.
  FWDKind component;
  uint8_t component_count;
} FWDValue;

/// Where a value travels.
typedef enum __attribute__((enum_extensibility(closed))) FWDRoute : uint8_t {
  /// An empty structure: nothing is passed.
  FWDRouteNowhere = 0,
  FWDRouteRegisters,
  FWDRouteStack,
  /// Behind a pointer that the caller passes in front of the arguments (results only).
  FWDRouteHiddenPointer,
  FWDRouteX87,
} FWDRoute;

/// No offset: 0 is that of the first integer register.
#define FWD_NOT_SPLIT UINT32_MAX
#define FWD_NOWHERE FWD_NOT_SPLIT

/// Where one value lives in a frame. Everything that gets, sets or gathers a value reads this.
typedef struct FWDSlot {
  /// Of the first eight bytes, or of all of them where the value is in one piece.
  uint32_t offset;
  /// Of the bytes from the eighth on, where a value is split over two registers; else
  /// `FWD_NOT_SPLIT`.
  uint32_t second_offset;
  uint32_t size;
  /// How many bytes of the value lie at `offset`: all of them in memory, at most 8 in a register.
  /// A value can be larger than its pieces: an eightbyte of nothing but padding takes no register.
  uint32_t head;
  /// At most 16.
  uint8_t alignment;
  FWDKind kind;
  /// The kind before the promotion of a variadic argument; else equal to `kind`.
  FWDKind declared;
  FWDRoute route;
  FWDClass first;
  FWDClass second;
  /// As in `FWDValue`.
  FWDKind component;
  uint8_t component_count;
} FWDSlot;

_Static_assert(sizeof(FWDSlot) == 24, "a slot's address is computed for every argument");

/// Decides how a value is cut into pieces, once it has an offset. Everything that moves values goes by
/// `head` and `second_offset`; this sets `head`, and the maker of a plan has set all else before.
static inline void fwd_slot_cut(FWDSlot *slot) {
  int is_register = slot->route == FWDRouteRegisters && slot->second == FWDClassNone;
  int is_cut = slot->size > 8 && (is_register || slot->second_offset != FWD_NOT_SPLIT);
  slot->head = is_cut ? 8 : slot->size;
}

/// Returns where the eight bytes from `8 * word` on of a value lie in a frame, or `FWD_NOWHERE` for
/// bytes behind its end and for an eightbyte of nothing but padding.
static inline uint32_t fwd_slot_word(const FWDSlot *slot, uint32_t word) {
  if (8 * word < slot->head) return slot->offset + 8 * word;
  // FWD_NOT_SPLIT is FWD_NOWHERE.
  return word == 1 ? slot->second_offset : FWD_NOWHERE;
}

/// The head of a frame: the registers of a call, and its result. Stack words follow, and then whatever
/// lies nowhere else: a result in memory, and on AArch64 the values that registers do not hold as memory
/// does. A frame is aligned to 16 bytes.
///
/// Every register slot is written as a whole: a narrow store that a wide load must pick up
/// stalls the processor for longer than the call takes.
#if FWD_ABI_AAPCS64
typedef struct FWDFrame {
  uint64_t integers[8];
  double vectors[8];
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
_Static_assert(offsetof(FWDFrame, result) == offsetof(FWDFrame, vectors) + 8 * 8,
               "the result follows all registers");
_Static_assert(offsetof(FWDFrame, result) % 16 == 0, "a quad may be a result");
_Static_assert(sizeof(FWDFrame) == offsetof(FWDFrame, result) + sizeof(((FWDFrame *)0)->result),
               "nothing is behind the result");
_Static_assert(sizeof(FWDFrame) % 16 == 0, "stack words begin at a multiple of 16");

/// What an invocation knows beside its frame, in the 48 bytes in front of it. Plain memory rather
/// than properties of a class, whose every change the Swift runtime would check for exclusivity.
typedef struct FWDInvocationState {
  /// Which of the first 64 arguments own what they hold.
  uint64_t owned;
  /// The selector word that was found to be one; a frame's bytes may hold anything.
  uint64_t checked_selector;
  /// The number of the message, 0 until one is needed. Copies that carry a message on share it; it
  /// tells that the message came back. A number, as the address of a dead one would be used again.
  uint64_t message;
  /// The address of the invocation that keeps the call; 0 for one that is only on the stack.
  uintptr_t owner;
  uint8_t has_result;
  uint8_t result_ownership;
  /// Whether arguments are kept when they are set, and whether the target is.
  uint8_t retains_arguments : 1;
  uint8_t retains_target : 1;
  /// Whether the message has crossed to another thread, or keeps the memory of its arguments.
  uint8_t has_luggage : 1;
  /// Whether the receiver in the frame is somebody else's for the time of a call, and not to be set.
  uint8_t is_target_lent;
  /// How many calls run with the values of the frame, and use what they refer to. No stack has room for more
  /// calls inside of each other than 32 bits count.
  uint32_t uses;
  /// The word that is owned as the result, as long as one is. Code that a call runs may set a result; the
  /// answer is written over it.
  uint64_t owned_result;
} FWDInvocationState;

_Static_assert(sizeof(FWDInvocationState) == 48, "the frame behind it is aligned to 16 bytes");

/// Returns the frame that a state stands in front of. Whoever made the state has made room for a
/// frame of the plan behind it, aligned to 16 bytes.
static inline FWDFrame *fwd_state_frame(FWDInvocationState *state) {
  return (FWDFrame *)(state + 1);
}

/// A frame that is large enough for most calls, with its state in front: what a call that is not
/// kept takes from the stack.
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
  /// What may be passed on the stack at most, in 8-byte words.
  FWD_STACK_WORDS_MAX = 8192,
  /// The largest value that is passed or returned, in bytes.
  FWD_VALUE_SIZE_MAX = 65536,
};

#pragma clang assume_nonnull end
