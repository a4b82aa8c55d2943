import threading

import pytest

from kveil.stopping import OutOfTime, Stop, check_deadline, current, halting, under


def test_a_stop_without_deadline_is_never_over_until_somebody_asks() -> None:
    stop = Stop()
    assert not stop.over()
    assert stop.left is None
    stop.check()
    stop.ask()
    assert stop.over()
    stop.check()  # asking is for those who have something to return


def test_a_deadline_that_has_passed_is_over_and_raises_where_there_is_nothing_to_return() -> None:
    stop = Stop(0.0)
    assert stop.late
    assert stop.over()
    assert stop.left == 0.0
    with pytest.raises(OutOfTime):
        stop.check()
    assert not Stop(1000.0).over()


def test_a_stop_within_another_has_the_earlier_deadline_and_hears_what_the_outer_one_is_asked() -> None:
    outer = Stop(0.0)
    assert Stop(1000.0, within=outer).late
    patient = Stop(1000.0)
    assert Stop(0.0, within=patient).late
    assert not patient.late
    inner = Stop(within=patient)
    patient.ask()
    assert inner.asked


def test_what_is_asked_of_an_inner_stop_does_not_reach_the_outer_one() -> None:
    outer = Stop()
    inner = Stop(within=outer)
    inner.ask()
    assert inner.over()
    assert not outer.over()


def test_the_first_wish_is_heard_where_somebody_listens_and_the_second_is_not() -> None:
    stop = Stop()
    with Stop(within=stop).listening():
        assert stop.ask()
        assert not stop.ask()
    assert not Stop().ask()


def test_a_wish_is_seen_from_any_thread() -> None:
    stop = Stop()
    seen = threading.Event()

    def work() -> None:
        while not stop.over():
            pass
        seen.set()

    thread = threading.Thread(target=work)
    thread.start()
    stop.ask()
    thread.join(10)
    assert seen.is_set()


def test_a_stop_is_found_under_which_a_call_runs_and_gone_after_it() -> None:
    stop = Stop(0.0)
    check_deadline()
    with under(stop):
        assert current() is stop
        with pytest.raises(OutOfTime):
            check_deadline()
        with under(Stop()) as other:
            assert current() is other
    assert current() is not stop
    check_deadline()


def test_what_halts_rises_at_the_deadline_and_leaves_no_thread_behind() -> None:
    before = threading.active_count()
    with under(Stop(0.5)), halting() as stop:  # half a second, in which also a busy machine comes to the next lines
        flag = stop.flag
        assert not flag[0]
        end = threading.Event()
        for _ in range(600):
            if flag[0]:
                break
            end.wait(0.05)
        assert flag[0]
        with pytest.raises(OutOfTime):
            stop.check_cancelled()
    assert threading.active_count() == before
    with pytest.raises(OutOfTime), under(Stop(0.0)), halting():
        raise AssertionError("the time was over before")
    with halting() as stop:
        assert threading.active_count() == before  # without a deadline nobody waits
        assert not stop.flag[0]


def test_what_halts_ends_with_the_stop_around_it_and_never_ends_that() -> None:
    outer = Stop(1000.0)
    with under(outer), halting() as stop:
        stop.cancel()
        assert not outer.cancelled
    with under(outer), halting() as stop:
        outer.cancel()
        assert stop.flag[0]


def test_how_much_of_its_own_seconds_is_over() -> None:
    assert not Stop().timed
    assert Stop().spent == 0.0
    timed = Stop(seconds=1_000)
    assert timed.timed
    assert 0.0 <= timed.spent < 0.1
    assert not Stop(within=timed).timed
    assert Stop(within=timed).spent == 0.0
    over = Stop(seconds=1e-9)
    assert over.spent == 1.0
