"""refs_server.py FOLDER

Serves the files of a folder over HTTP and prints the port. Unlike http.server it supports ranges
of bytes."""
import http.server
import os
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        try:
            with open(self.translate_path(self.path), "rb") as f:
                data = f.read()
        except OSError:
            self.send_error(404)
            return
        asked = self.headers.get("Range")
        if asked is None:
            self.send_response(200)
        else:
            first, last = asked.removeprefix("bytes=").split("-")
            data = data[int(first) : int(last) + 1]
            self.send_response(206)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


os.chdir(sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
