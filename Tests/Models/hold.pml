/* A model of holds, replacement and retirement: the protocol of fwd_hold.h and hold.c.
 *
 * Two readers have store buffers, as processors have them: other threads see a reader's store only
 * when the buffer drains, at any time later. Two writers publish and retire. Holds nest. One
 * reader's thread ends, the other's stays.
 *
 * Checked: nothing is used after it was disposed of, nothing is disposed of twice, and when all
 * work has ended, every retired thing has been disposed of, although one reader never ended.
 *
 * NO_FIRST_BARRIER, NO_SECOND_BARRIER, NO_MARK_CHECK and NO_MARK_KEPT leave out a part; with each of
 * them, the check must fail.
 */

#define READERS 2
#define SLOTS 2
#define THINGS 4 /* 0 is null; 1 exists at first; each writer makes one more */

/* One slot of one reader: in memory, and in the store buffer. */
#define SLOT(r, s) ((r) * SLOTS + (s))
byte thing[4];   /* the value in memory */
byte wanted[4];  /* marks */

/* A reader's stores that have not drained, oldest first: slot + 1, and the value. */
byte bufferedSlot[4];
byte bufferedValue[4];
byte buffered[READERS];
#define BUFFER(r, i) ((r) * 2 + (i))

byte place = 1;
bool isRetired[4];
bool isDisposed[4];
byte holds[4];
bool isLocked;
bool isThread[READERS];
byte over;

inline lock() { atomic { !isLocked -> isLocked = true } }
inline unlock() { isLocked = false }

/* Drains one store from the buffer of a reader. */
inline drain(r) {
  d_step {
    thing[bufferedSlot[BUFFER(r, 0)]] = bufferedValue[BUFFER(r, 0)];
    bufferedSlot[BUFFER(r, 0)] = bufferedSlot[BUFFER(r, 1)];
    bufferedValue[BUFFER(r, 0)] = bufferedValue[BUFFER(r, 1)];
    bufferedSlot[BUFFER(r, 1)] = 0;
    bufferedValue[BUFFER(r, 1)] = 0;
    buffered[r]--
  }
}

/* A store of a reader; it waits while the buffer is full. */
inline put(r, s, value) {
  atomic {
    buffered[r] < 2 ->
    bufferedSlot[BUFFER(r, buffered[r])] = SLOT(r, s);
    bufferedValue[BUFFER(r, buffered[r])] = value;
    buffered[r]++
  }
}

/* Drains the buffer of every reader, as membarrier does. */
inline barrier() {
  atomic {
    do
    :: buffered[0] > 0 -> drain(0)
    :: else -> break
    od;
    do
    :: buffered[1] > 0 -> drain(1)
    :: else -> break
    od
  }
}

/* Drains buffers at any time, as a processor does. */
active [READERS] proctype Processor() {
  byte me = _pid % READERS;
end:
  do
  :: atomic { buffered[me] > 0 -> drain(me) }
  od
}

inline dispose(t) {
  assert(isRetired[t]);
  assert(!isDisposed[t]);
  isDisposed[t] = true
}

/* Removes the mark of a slot; removing the last mark disposes. The lock is held. */
inline unmark(slot, t) {
  d_step {
    t = wanted[slot];
    wanted[slot] = 0;
    if
    :: t != 0 -> holds[t]--; if :: holds[t] == 0 -> dispose(t) :: else fi
    :: else
    fi;
    t = 0
  }
}

inline letGoOfRetired(r, s, t) {
  lock();
  /* Taking a lock drains the buffer. */
  atomic { buffered[r] == 0 -> unmark(SLOT(r, s), t) };
  unlock()
}

inline hold(r, s, seen, now, t) {
  seen = place;
  put(r, s, seen);
  if
  :: atomic { place == seen }
  :: atomic { place != seen -> now = place };
    do
    :: seen = now; put(r, s, seen);
      atomic {
        now = place;
        if
        :: now == seen -> now = 0; break
        :: else
        fi
      }
    od;
    if
    :: wanted[SLOT(r, s)] != 0 ->
      lock();
      atomic {
        buffered[r] == 0;
        if
#ifdef NO_MARK_KEPT
        :: true -> unmark(SLOT(r, s), t)
#else
        :: wanted[SLOT(r, s)] != thing[SLOT(r, s)] -> unmark(SLOT(r, s), t)
        :: else
#endif
        fi
      };
      unlock()
    :: else
    fi
  fi
}

inline use(seen) { assert(!isDisposed[seen]) }

inline letGo(r, s, t) {
  put(r, s, 0);
  if
  :: wanted[SLOT(r, s)] != 0 -> letGoOfRetired(r, s, t)
  :: else
  fi
}

/* Holds twice, one after the other; the thread stays. */
proctype Staying() {
  byte held, now, t, turn;
  do
  :: turn < 2 ->
    hold(1, 0, held, now, t);
    atomic { use(held); held = 0 };
    letGo(1, 0, t);
    turn++
  :: else -> break
  od;
  atomic { buffered[1] == 0 -> over++ }
}

/* Holds two things in nested holds; the thread ends inside both holds or after them. */
proctype Ending() {
  byte outer, inner, now, t;
  hold(0, 0, outer, now, t);
  use(outer);
  hold(0, 1, inner, now, t);
  if
  :: atomic { use(inner); use(outer); inner = 0 };
    letGo(0, 1, t);
    atomic { use(outer); outer = 0 };
    letGo(0, 0, t)
  :: atomic { use(inner); use(outer); inner = 0; outer = 0 }
  fi;
  /* The thread ends. */
  lock();
  atomic {
    buffered[0] == 0 ->
    isThread[0] = false;
    unmark(SLOT(0, 0), t);
    unmark(SLOT(0, 1), t)
  };
  unlock();
  over++
}

proctype Writer(byte made) {
  byte old, i, t;
  bool isFound;
  atomic { old = place; place = made; isRetired[old] = true };
  atomic {
    lock();
#ifndef NO_FIRST_BARRIER
    barrier()
#endif
  };
  /* Marks every slot that may hold the old thing. */
  do
  :: d_step {
      i < READERS * SLOTS ->
      if
      :: isThread[i / SLOTS] && thing[i] == old ->
        if
        :: wanted[i] != 0 ->
          t = wanted[i]; wanted[i] = 0; holds[t]--;
          if :: holds[t] == 0 -> dispose(t) :: else fi;
          t = 0
        :: else
        fi;
        holds[old]++; wanted[i] = old; isFound = true
      :: else
      fi;
      i++
    }
  :: atomic { i == READERS * SLOTS -> i = 0; break }
  od;
  if
  :: isFound ->
#ifndef NO_SECOND_BARRIER
    barrier();
#endif
#ifndef NO_MARK_CHECK
    /* Removes the marks of slots that were released before their reader could see the mark. */
    do
    :: d_step {
        i < READERS * SLOTS ->
        if
        :: wanted[i] == old && thing[i] != old -> holds[old]--; wanted[i] = 0
        :: else
        fi;
        i++
      }
    :: atomic { i == READERS * SLOTS -> i = 0; break }
    od
#else
    skip
#endif
  :: else
  fi;
  atomic {
    if
    :: holds[old] == 0 -> dispose(old)
    :: else
    fi;
    old = 0; isFound = false;
    unlock();
    over++
  }
}

init {
  byte t;
  atomic {
    isThread[0] = true; isThread[1] = true;
    run Ending(); run Staying(); run Writer(2); run Writer(3)
  };
  /* All work has ended: every retired thing is gone, although reader 1 never ended. */
  over == 4;
  d_step {
    t = 1;
    do
    :: t < THINGS -> assert(isDisposed[t] == isRetired[t]); t++
    :: else -> break
    od
  }
}
