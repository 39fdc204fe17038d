"""What a page says and what it asks for while it is open."""

from urllib.parse import unquote, urlsplit

BUILT_IN = ("data:", "blob:", "about:")  # addresses that are no request to anybody


class Watch:
    """Notes messages, failed requests and requests for anything but `site`, served at `address`."""

    def __init__(self, page, site, address):
        self.site = site
        self.address = address
        self.messages = []
        self.failed = []
        self.outside = []
        self.loaded = set()
        page.on("console", self._message)
        page.on("pageerror", self._error)
        page.on("requestfailed", self._failure)
        page.on("request", self._request)
        page.on("response", self._response)

    def problems(self):
        """All messages, failed requests and requests to elsewhere."""
        return [*self.messages, *self.failed, *self.outside]

    def _error(self, error):
        self.messages.append(f"uncaught: {error}")

    def _failure(self, request):
        self.failed.append(f"{request.failure}: {request.url}")

    def _message(self, message):
        if message.type in ("error", "warning"):
            self.messages.append(f"{message.type}: {message.text}")

    def _request(self, request):
        if request.url.startswith(BUILT_IN):
            return
        if request.url.startswith(self.address):
            path = unquote(urlsplit(request.url.removeprefix(self.address)).path)
            self.loaded.add(path)
        else:
            self.outside.append(request.url)

    def _response(self, response):
        if response.status >= 400:
            self.failed.append(f"status {response.status}: {response.url}")

    def sizes(self):
        """Bytes of each file that the page loaded, as they lie on the disk."""
        files = {name: self.site / name for name in self.loaded}
        return {name: path.stat().st_size for name, path in files.items() if path.is_file()}
