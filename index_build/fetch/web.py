"""Calls over the network: limits, repeats, truncated answers; nothing of what a source means."""

from __future__ import annotations

import email.utils
import os
import random
import time
import zlib
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

import requests
from urllib3.exceptions import HTTPError

from index_build.fetch.addresses import Place, key_of, place_of, secrets_of
from index_build.fetch.pace import Pace, Stop, nobody
from index_build.fetch.values import (
    Answer,
    Call,
    Expired,
    Refused,
    Stopped,
    Unanswered,
    Understand,
    Unreadable,
)
from search import __version__
from search.settings import Settings

T = TypeVar("T")
TRIES = 7
"""Times a call is sent before it is given up; with doubled pauses that is some four minutes."""
LONGEST_BACKOFF = 120.0
"""Seconds."""
MOST_WAIT = 1800.0
"""Seconds that a source may have us wait in one go; beyond that it is asked another day."""
LARGEST = 300_000_000
"""Bytes of an answer, unpacked; the largest real ones have some twenty million."""
SLOWEST = 600.0
"""Seconds that an answer may take in all."""
CHUNK = 1 << 16
REDIRECTS = 4
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 522, 524})
"""Statuses that say nothing of the request: it is repeated."""
_TOLD = 300
"""Characters of a source's own explanation that are shown."""
_KEPT_HEADERS = ("etag", "content-type", "last-modified-version", "total-results", "link", "zotero-server-id")


class _Failure(Exception):
    """One try that failed, and how long the source wants to be left alone, where it says so."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.why, self.wait = why, wait


class Client:
    """Sends calls for one fetch; `stop` is asked while it waits."""

    def __init__(self, settings: Settings, stop: Stop = nobody, tries: int = TRIES) -> None:
        self._settings = settings
        self._stop = stop
        self._tries = tries
        self._session = requests.Session()
        self._session.auth = _nothing_more  # keeps requests from sending what a .netrc has
        self._session.verify = os.environ.get("SSL_CERT_FILE") or True  # its own variables win
        self._dice = random.Random()
        self.sent = 0

    def __call__(self, call: Call, understand: Understand[T]) -> tuple[Answer, T]:
        """The answer and what it says. Unanswered, Refused or Expired where there is none."""
        place, why = place_of(call.source, self._settings), ""
        hold = 0.0
        for attempt in range(self._tries):
            try:
                answer = self._send(call, place, hold)
                return answer, understand(answer)
            except _Failure as failure:
                why, hold = failure.why, self._wait(place, attempt, failure.wait)
            except Unreadable as odd:
                why, hold = str(odd), self._wait(place, attempt, None)
        raise Unanswered(
            f"{place.title} ({place.host}) gave no usable answer in {self._tries} tries ({why}): what has "
            "arrived is kept, so run the same again later to go on."
        )

    def _wait(self, place: Place, attempt: int, asked: float | None) -> float:
        if asked is None:
            return min(place.backoff * 2.0**attempt, LONGEST_BACKOFF) * self._dice.uniform(0.5, 1.5)
        if asked > MOST_WAIT:
            raise Unanswered(
                f"{place.title} ({place.host}) asks to be left alone for {asked / 60:,.0f} minutes: what has "
                "arrived is kept, so run the same again after that."
            )
        return asked

    def _send(self, call: Call, place: Place, hold: float) -> Answer:
        url = place.address + call.path
        params, headers = secrets_of(call.source, self._settings)
        given: dict[str, str] | None = dict(call.params) | params
        for _ in range(REDIRECTS):
            answer = self._once(call, place, url, given, headers, hold)
            if answer.status not in (301, 302, 303, 307, 308):
                return self._checked(call, place, answer)
            target = urljoin(url, answer.headers.get("location", ""))
            if not _may_follow(url, target):
                raise Refused(f"{place.title} sends us on to {target[:100]}, which is not followed.")
            if urlsplit(target).netloc != urlsplit(url).netloc:
                headers = {}
            url, given, hold = target, None, 0.0
        raise _Failure("it sends us on in circles")

    def _once(
        self,
        call: Call,
        place: Place,
        url: str,
        params: Mapping[str, str] | None,
        secrets: Mapping[str, str],
        hold: float,
    ) -> Answer:
        pause = (place.pause_with_key if key_of(call.source, self._settings) else 0.0) or place.pause
        with Pace(urlsplit(url).netloc, pause).turn(self._stop, hold) as turn:
            self.sent += 1
            try:
                response = self._session.request(
                    call.method or ("POST" if call.body else "GET"),
                    url,
                    params=params,
                    data=call.body.encode() or None,
                    headers=self._headers(call) | dict(secrets),
                    timeout=(min(15, self._settings.fetch_timeout), self._settings.fetch_timeout),
                    stream=True,
                    allow_redirects=False,
                    proxies={"http": "", "https": ""} if is_loopback(url) else None,
                )
                turn.arrived()
                with response:
                    answer = _read(response, self._stop)
            except (requests.RequestException, HTTPError, OSError) as error:
                raise _Failure(_in_words(error)) from error
            turn.hold = _seconds(answer.headers.get("backoff", ""), answer.headers) or 0.0
            if answer.status in (429, 503):
                turn.hold = max(turn.hold, min(retry_after(answer.headers) or 0.0, MOST_WAIT))
            return answer

    def _headers(self, call: Call) -> dict[str, str]:
        contact = f" (mailto:{self._settings.contact})" if self._settings.contact else ""
        kind = "application/x-www-form-urlencoded" if call.form else "application/json"
        return {
            "User-Agent": f"Triptych/{__version__}{contact}",
            "Accept-Encoding": "gzip",
            **({"Content-Type": kind} if call.body else {}),
            **dict(call.headers),
        }

    def _checked(self, call: Call, place: Place, answer: Answer) -> Answer:
        if answer.status in call.good:
            return answer
        told = said(answer)
        if answer.status in _PASSING:
            raise _Failure(f"status {answer.status}{told}", retry_after(answer.headers))
        if call.expires and answer.status in (400, 404, 410, 422):
            raise Expired(f"status {answer.status}{told}")
        if answer.status in (401, 402, 403):
            raise Refused(
                f"{place.title} ({place.host}) does not let us in (status {answer.status}{told}): check its "
                "key in the settings, or ask for less."
            )
        raise Refused(
            f"{place.title} ({place.host}) refuses this (status {answer.status}{told}): change what is asked "
            "for."
        )


def said(answer: Answer) -> str:
    """The start of what a source says of an error, in brackets' reach; nothing where that is a web page."""
    text = " ".join(answer.body[: 4 * _TOLD].decode("utf-8", "replace").split())
    return f": {text[:_TOLD]}" if text and not text.lstrip().lower().startswith(("<!doc", "<html")) else ""


def kept_headers(answer: Answer) -> dict[str, str]:
    """What is remembered of the headers."""
    return {name: answer.headers[name] for name in _KEPT_HEADERS if name in answer.headers}


def is_loopback(url: str) -> bool:
    """Whether an address is this machine, which no proxy stands before."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from a number or a date; a date is compared with the server's own clock."""
    return _seconds(headers.get("retry-after", ""), headers)


def _seconds(text: str, headers: Mapping[str, str]) -> float | None:
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    then = _time(text)
    if then is None:
        return None
    return max(0.0, then - (_time(headers.get("date", "")) or time.time()))


def _time(text: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(text).timestamp() if text else None
    except (ValueError, TypeError, OverflowError):
        return None


def _may_follow(url: str, target: str) -> bool:
    """Web addresses only, never from https to http, and never from the network to this machine."""
    scheme = urlsplit(target).scheme
    if scheme not in ("http", "https") or (url.startswith("https:") and scheme == "http"):
        return False
    return is_loopback(url) or not is_loopback(target)


def _nothing_more(request: Any) -> Any:
    return request


def _read(response: requests.Response, stop: Stop) -> Answer:
    """The whole answer, unpacked; a failure where it is cut off, too large or too slow."""
    begun, pieces, size = time.monotonic(), [], 0
    for piece in response.raw.stream(CHUNK, decode_content=False):
        size += len(piece)
        pieces.append(piece)
        if size > LARGEST:
            raise _Failure("the answer is too large")
        if time.monotonic() - begun > SLOWEST:
            raise _Failure("the answer takes too long")
        if stop():
            raise Stopped
    headers = {name.lower(): value for name, value in response.headers.items()}
    body, coding = b"".join(pieces), headers.get("content-encoding", "").lower()
    if not coding or coding == "identity" or not body:
        return Answer(response.status_code, headers, body)
    if coding not in ("gzip", "x-gzip"):
        raise _Failure(f"the answer is packed as {coding[:20]}")
    return Answer(response.status_code, headers, _unpacked(body), body)


def _unpacked(packed: bytes) -> bytes:
    """All members of a gzip stream; one that does not end was cut off, even where its length is right."""
    pieces, left, room = [], packed, LARGEST
    while left:
        unpacker = zlib.decompressobj(31)
        try:
            pieces.append(unpacker.decompress(left, room))
        except zlib.error:
            raise _Failure("the answer is damaged") from None
        room -= len(pieces[-1])
        if not unpacker.eof:
            raise _Failure("the answer is too large" if room <= 0 else "the answer is cut off")
        left = unpacker.unused_data
    return b"".join(pieces)


def _in_words(error: Exception) -> str:
    match error:
        case requests.exceptions.ProxyError():
            return "the proxy cannot be reached"
        case requests.exceptions.SSLError():
            return "its certificate cannot be checked"
        case requests.ConnectTimeout() | requests.exceptions.ReadTimeout():
            return "it does not answer in time"
        case requests.ConnectionError():
            return "it cannot be reached"
    return "the answer is cut off"
