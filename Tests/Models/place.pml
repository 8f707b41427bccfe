/* Two threads that each announce something and then look for the other: a delivery and the removal of a
 * list, on processors that reorder a store and a later load of another address.
 *
 * The same order is needed twice. In fwd_place_note_other_reader and fwd_targets_retire, a thread records
 * that it reads a place, and then reads the list there; another one replaces the list, and disposes of the
 * old one at once if no other thread is recorded. In fwd_awaited_begin and fwd_list_is_awaited, a
 * delivery counts itself, and then reads the list again; a removal replaces the list, and then reads the
 * count. One of the two must see the other.
 *
 * NO_READER_BARRIER and NO_WRITER_BARRIER leave out an order; with each of them, the check must fail.
 */

byte list = 1;
bool isNoted;
bool isDisposed[3];
byte over;

proctype Delivery() {
  byte found;
#ifdef NO_READER_BARRIER
  if
  :: isNoted = true; found = list
  :: found = list; isNoted = true
  fi;
#else
  isNoted = true;
  found = list;
#endif
  assert(!isDisposed[found]);
  over++
}

proctype Removal() {
  byte old;
  bool isRead;
#ifdef NO_WRITER_BARRIER
  if
  :: atomic { old = list; list = 2 }; isRead = isNoted
  :: isRead = isNoted; atomic { old = list; list = 2 }
  fi;
#else
  atomic { old = list; list = 2 };
  isRead = isNoted;
#endif
  /* A recorded reader makes the removal take the way that waits: hold.pml and weak.pml. */
  if
  :: !isRead -> isDisposed[old] = true
  :: else
  fi;
  over++
}

init {
  atomic { run Delivery(); run Removal() };
  over == 2
}
