from __future__ import annotations

import threading
import time
from uuid import uuid4

import pytest
from kombu import Connection, Consumer, Exchange, Producer, Queue

from spades_api.transport import queues

URL = "embedded://localhost"


@pytest.fixture
def queue():
    queues.clear("celery")  # what other tests have sent and nobody has done
    name = f"test-{uuid4()}"
    yield Queue(name, Exchange(name, type="direct"), routing_key=name)
    queues.clear(name)


def send(queue, *bodies):
    with Connection(URL) as connection:
        producer = Producer(connection, queue.exchange, queue.routing_key, serializer="json")
        for body in bodies:
            producer.publish(body, declare=[queue])


class Reader:
    """Consumes in the calling thread; `take` says what to do with a message."""

    def __init__(self, queue, take) -> None:
        self.connection = Connection(URL)
        self.consumer = Consumer(self.connection, [queue], on_message=take, accept=["json"])
        self.consumer.consume()

    def drain(self, messages: int, seconds: float = 30) -> None:
        left, deadline = messages, time.monotonic() + seconds
        while left and time.monotonic() < deadline:
            try:
                self.connection.drain_events(timeout=seconds)
                left -= 1
            except TimeoutError:
                continue
        assert not left

    def close(self) -> None:
        self.connection.release()


def test_messages_arrive_in_order(queue):
    got = []
    reader = Reader(queue, lambda message: (got.append(message.payload), message.ack()))
    send(queue, 1, 2, 3)

    reader.drain(3)

    assert got == [1, 2, 3]
    reader.close()


def test_a_message_wakes_the_consumer_at_once(queue):
    """kombu's own in-process transport takes up to a second."""
    waits = []
    taken = threading.Semaphore(0)

    def take(message) -> None:
        waits.append(time.monotonic() - message.payload)
        message.ack()
        taken.release()

    reader = Reader(queue, take)
    thread = threading.Thread(target=reader.drain, args=(20,))
    thread.start()
    for _ in range(20):
        send(queue, time.monotonic())
        assert taken.acquire(timeout=30)  # there is nothing left to take, so the consumer waits again
    thread.join(30)

    assert len(waits) == 20
    assert sorted(waits)[10] < 0.05
    reader.close()


def test_what_is_sent_before_somebody_listens_waits(queue):
    send(queue, "early")
    got = []
    reader = Reader(queue, lambda message: (got.append(message.payload), message.ack()))

    reader.drain(1)

    assert got == ["early"]
    reader.close()


def test_nothing_to_deliver_ends_with_a_timeout(queue):
    reader = Reader(queue, lambda message: message.ack())

    with pytest.raises(TimeoutError):
        reader.connection.drain_events(timeout=0.01)

    reader.close()


def test_unacknowledged_messages_go_back_in_order(queue):
    send(queue, 1, 2, 3, 4)
    taken = []
    first = Reader(queue, lambda message: (taken.append(message), message.payload == 2 and message.ack()))
    first.drain(3)
    first.close()

    got = []
    second = Reader(
        queue, lambda message: (got.append((message.payload, "redelivered" in message._raw)), message.ack())
    )
    second.drain(3)

    assert [message.payload for message in taken] == [1, 2, 3]
    assert got == [(1, True), (3, True), (4, False)]
    second.close()


def test_a_rejected_message_is_dropped_or_given_to_another(queue):
    send(queue, "again", "never")
    got = []

    def take(message) -> None:
        got.append(message.payload)
        if got.count("again") == 1 and message.payload == "again":
            message.requeue()
        elif message.payload == "again":
            message.ack()
        else:
            message.reject()

    reader = Reader(queue, take)
    reader.drain(3)

    assert got == ["again", "again", "never"]
    assert queues.size(queue.name) == 0
    reader.close()


def test_threads_may_send_at_the_same_time(queue):
    got = []
    reader = Reader(queue, lambda message: (got.append(tuple(message.payload)), message.ack()))
    threads = [
        threading.Thread(target=send, args=(queue, *[(number, index) for index in range(50)])) for number in range(8)
    ]
    for thread in threads:
        thread.start()
    reader.drain(400)
    for thread in threads:
        thread.join(30)

    assert sorted(got) == [(number, index) for number in range(8) for index in range(50)]
    reader.close()


def test_finish_waits_for_what_is_there_and_not_for_what_comes(queue):
    """Each message makes another, as a bot's turn makes the next one, so the queue is never empty."""
    send(queue, *range(5))
    got = []
    finished = threading.Event()

    def take(message) -> None:
        got.append(message.payload)
        send(queue, "more")
        message.ack()

    def work() -> None:
        while not finished.is_set():
            reader.drain(1)

    reader = Reader(queue, take)
    thread = threading.Thread(target=work)
    thread.start()

    left = queues.finish(30)

    finished.set()
    thread.join(30)
    assert left == 0
    assert got[:5] == [0, 1, 2, 3, 4]
    reader.close()


def test_finish_says_what_is_left(queue):
    send(queue, *range(3))

    assert queues.finish(0.01) == 3
