/* The protocol of hold.pml on processors that reorder loads and stores, as those of AArch64 do.
 *
 * A thread executes its accesses in any order that its processor may choose: an access is done when all
 * accesses are done that must come before it. These are the edges of the memory model of AArch64: of a
 * dependency, of an acquire load, of a release store, of two accesses to one address, of a barrier. A store
 * that is done is visible to all threads at once, as that model says ("other-multi-copy atomic"). The
 * stronger order of a release store before a later acquire load is left out, because some processors
 * have acquire loads without it (LDAPR).
 *
 * One reader holds what is at the cell, uses it and releases it, twice; accesses of both rounds may
 * overlap. Two writers publish and retire. `membarrier` waits until the reader has done all accesses up to some
 * point in its program and none behind it.
 *
 * Checked: nothing is used before it was filled or after it was disposed of, nothing is disposed of
 * twice, and in the end every retired thing has been disposed of.
 *
 * READER_BARRIERS is the variant without membarrier, where readers make barriers. Each of these leaves
 * out an order; with it, the check must fail:
 *   NO_FIRST_BARRIER   between the exchange of the cell and the reads of the slots
 *   NO_SECOND_BARRIER  between the marks and the second reads of the slots
 *   NO_PUBLISH         the release of the exchange: the contents before the address
 *   NO_RELEASE         the release of the store that empties a slot: the use before it
 *   NO_CHECK           the acquire of the second read of the cell, with the branch behind it
 * and with READER_BARRIERS alone:
 *   NO_HOLD_BARRIER    between the store in the slot and the second read of the cell
 *   NO_RELEASE_BARRIER between the store that empties the slot and the read of its mark
 */

#define THINGS 4 /* 0 is null; 1 exists at first; each writer makes one more */
#define STEPS 7
#define ALL 14

byte cell = 1;
byte slot;
byte wanted;
bool isFilled[THINGS];
bool isRetired[THINGS];
bool isDisposed[THINGS];
byte holds[THINGS];
bool isLocked;
byte over;

/* The accesses of the reader, in the order of its program: step + STEPS * round.
 * 0 reads the cell; 1 writes the slot; 2 reads the cell again; 3 uses the thing; 4 empties the slot;
 * 5 reads the mark; 6 takes the mark under the lock, if there is one. */
bool isDone[ALL];

/* Whether the accesses that are done are the first ones of the program. */
#define AFTER(i) (!isDone[i] || isDone[i - 1])
#define IS_PREFIX (AFTER(1) && AFTER(2) && AFTER(3) && AFTER(4) && AFTER(5) && AFTER(6) && AFTER(7) && \
  AFTER(8) && AFTER(9) && AFTER(10) && AFTER(11) && AFTER(12) && AFTER(13))

#ifdef READER_BARRIERS
#define MEMBARRIER true
#else
#define MEMBARRIER IS_PREFIX
#endif

#if defined(READER_BARRIERS) && !defined(NO_HOLD_BARRIER)
#define HOLD_BARRIER(k) isDone[1 + STEPS * k]
#else
#define HOLD_BARRIER(k) true
#endif
#if defined(READER_BARRIERS) && !defined(NO_RELEASE_BARRIER)
#define RELEASE_BARRIER(k) isDone[4 + STEPS * k]
#else
#define RELEASE_BARRIER(k) true
#endif
#ifdef NO_RELEASE
#define USED(k) true
#else
#define USED(k) isDone[3 + STEPS * k]
#endif
#ifdef NO_CHECK
#define CHECKED(k) true
#else
#define CHECKED(k) isDone[2 + STEPS * k]
#endif

inline dispose(t) {
  assert(isRetired[t]);
  assert(!isDisposed[t]);
  isDisposed[t] = true
}

/* The lock is held. */
inline unmark(t) {
  t = wanted;
  wanted = 0;
  if
  :: t != 0 -> holds[t]--; if :: holds[t] == 0 -> dispose(t) :: else fi
  :: else
  fi;
  t = 0
}

/* Whether an access of a round is to be done, and whether it is done. */
#define OPEN(i, k) (!isDone[i + STEPS * k])
#define IS(i, k) isDone[i + STEPS * k]

proctype Reader() {
  byte seen[2], now[2], mark[2], t;
  byte round;
  do
  :: atomic { OPEN(0, 0) -> seen[0] = cell; IS(0, 0) = true }
  :: atomic { OPEN(1, 0) && IS(0, 0) -> slot = seen[0]; IS(1, 0) = true }
  :: atomic { OPEN(2, 0) && IS(0, 0) && HOLD_BARRIER(0) -> now[0] = cell; IS(2, 0) = true }
  :: atomic { OPEN(3, 0) && IS(0, 0) && CHECKED(0) ->
      if
      :: CHECKED(0) && IS(2, 0) && now[0] != seen[0]
      :: else -> assert(isFilled[seen[0]]); assert(!isDisposed[seen[0]])
      fi;
      IS(3, 0) = true }
  :: atomic { OPEN(4, 0) && IS(1, 0) && IS(2, 0) && USED(0) -> slot = 0; IS(4, 0) = true }
  :: atomic { OPEN(5, 0) && IS(2, 0) && RELEASE_BARRIER(0) ->
      mark[0] = wanted; IS(5, 0) = true;
      /* Accesses behind the branch were done because the processor took the other way: it does them again. */
      if
      :: mark[0] != 0 ->
        IS(0, 1) = false; IS(2, 1) = false; IS(3, 1) = false; IS(5, 1) = false; IS(6, 1) = false
      :: else
      fi }
  :: atomic { OPEN(6, 0) && IS(5, 0) && mark[0] == 0 -> IS(6, 0) = true }
  :: atomic { OPEN(6, 0) && IS(5, 0) && IS(4, 0) && IS(3, 0) && mark[0] != 0 && !isLocked ->
      unmark(t); IS(6, 0) = true }
  /* The second round: an acquire load orders all that follows it, and a release store all before it. */
  :: atomic { OPEN(0, 1) && IS(2, 0) && (OPEN(5, 0) || IS(6, 0)) -> seen[1] = cell; IS(0, 1) = true }
  :: atomic { OPEN(1, 1) && IS(0, 1) && IS(4, 0) && IS(6, 0) -> slot = seen[1]; IS(1, 1) = true }
  :: atomic { OPEN(2, 1) && IS(0, 1) && HOLD_BARRIER(1) -> now[1] = cell; IS(2, 1) = true }
  :: atomic { OPEN(3, 1) && IS(0, 1) && CHECKED(1) ->
      if
      :: CHECKED(1) && IS(2, 1) && now[1] != seen[1]
      :: else -> assert(isFilled[seen[1]]); assert(!isDisposed[seen[1]])
      fi;
      IS(3, 1) = true }
  :: atomic { OPEN(4, 1) && IS(1, 1) && IS(2, 1) && USED(1) -> slot = 0; IS(4, 1) = true }
  :: atomic { OPEN(5, 1) && IS(2, 1) && RELEASE_BARRIER(1) -> mark[1] = wanted; IS(5, 1) = true }
  :: atomic { OPEN(6, 1) && IS(5, 1) && mark[1] == 0 -> IS(6, 1) = true }
  :: atomic { OPEN(6, 1) && IS(5, 1) && IS(4, 1) && IS(3, 1) && mark[1] != 0 && !isLocked ->
      unmark(t); IS(6, 1) = true }
  :: atomic { IS(3, 0) && IS(6, 0) && IS(3, 1) && IS(4, 1) && IS(6, 1) -> over++; break }
  od
}

/* A writer. Its first accesses may be done in any order that the barriers leave. */
proctype Writer(byte made) {
  byte old, read, t;
  bool isRead, wasFound;
#ifdef NO_FIRST_BARRIER
  /* The read of the slot may be done before the exchange of the cell is visible. */
  if
  :: read = slot; isRead = true
  :: skip
  fi;
#endif
  /* Fills the thing and publishes it. */
#ifdef NO_PUBLISH
  if
  :: isFilled[made] = true; atomic { old = cell; cell = made }
  :: atomic { old = cell; cell = made }; isFilled[made] = true
  fi;
#else
  isFilled[made] = true;
  atomic { old = cell; cell = made };
#endif
  isRetired[old] = true;
  atomic { !isLocked -> isLocked = true };
#ifndef NO_FIRST_BARRIER
  MEMBARRIER;
#endif
  /* Reads the slot, and marks it. */
  if :: !isRead -> read = slot :: else fi;
  atomic {
    if
    :: read == old ->
      if :: wanted != 0 -> unmark(t) :: else fi;
      holds[old]++; wasFound = true
    :: else
    fi
  };
#ifdef NO_SECOND_BARRIER
  /* The second read may be done before the mark is visible. */
  if
  :: wasFound ->
    if
    :: atomic { wanted = old; if :: slot != old -> holds[old]--; wanted = 0 :: else fi }
    :: slot == old -> wanted = old
    :: slot != old -> holds[old]--
    fi
  :: else
  fi;
#else
  if
  :: wasFound ->
    wanted = old;
    MEMBARRIER;
    atomic { if :: wanted == old && slot != old -> holds[old]--; wanted = 0 :: else fi }
  :: else
  fi;
#endif
  atomic {
    if :: holds[old] == 0 && !isDisposed[old] -> dispose(old) :: else fi;
    isLocked = false;
    old = 0; read = 0; isRead = false; wasFound = false;
    over++
  }
}

init {
  byte t;
  atomic { isFilled[1] = true; run Reader(); run Writer(2); run Writer(3) };
  over == 3;
  d_step {
    t = 1;
    do
    :: t < THINGS -> assert(isDisposed[t] == isRetired[t]); t++
    :: else -> break
    od
  }
}
