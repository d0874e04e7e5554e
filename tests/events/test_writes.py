from __future__ import annotations

import threading

import pytest

from events.writes import FairLock, write_turn


def test_the_lock_goes_to_who_has_waited_longest():
    lock = FairLock()
    order: list[int] = []
    lock.acquire()

    def take(number: int) -> None:
        lock.acquire()
        order.append(number)
        lock.release()

    threads = []
    for number in range(10):
        thread = threading.Thread(target=take, args=(number,))
        thread.start()
        while lock.waiting <= number:
            thread.join(0.001)
        threads.append(thread)
    lock.release()
    for thread in threads:
        thread.join(30)

    assert order == list(range(10))


def test_only_one_thread_holds_the_lock():
    lock = FairLock()
    inside = 0
    most = 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(500):
            lock.acquire()
            inside += 1
            most = max(most, inside)
            inside -= 1
            lock.release()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert (inside, most, lock.waiting) == (0, 1, 0)


def test_the_lock_may_be_taken_again_by_its_holder():
    lock = FairLock()
    lock.acquire()
    lock.acquire()
    lock.release()
    other = threading.Thread(target=lambda: (lock.acquire(), lock.release()))
    other.start()

    other.join(0.05)
    assert other.is_alive()
    lock.release()
    other.join(30)
    assert not other.is_alive()


def test_the_lock_is_released_only_by_its_holder():
    lock = FairLock()

    with pytest.raises(RuntimeError):
        lock.release()


def test_turns_are_given_back_after_an_error():
    with pytest.raises(ZeroDivisionError), write_turn():
        _ = 1 / 0

    taken = threading.Event()

    def take() -> None:
        with write_turn():
            taken.set()

    other = threading.Thread(target=take)
    other.start()
    other.join(30)
    assert taken.is_set()
