"""The command `dfop` in processes that need not load the package: forks of one that has.

A start costs two seconds of a processor, nearly all of it imports. What follows is the same.
"""

import contextlib
import json
import multiprocessing
import os
import socket
import subprocess
import sys
import threading
from multiprocessing.reduction import DupFd

FORKS = multiprocessing.get_context("forkserver")
PRELOAD = ["dfop.cli", "dfop.cli.learn", "pyarrow.csv", "pyarrow.parquet", "matplotlib.figure"]


def work(arguments, folder, files):
    """Be the command, with these files as standard input, output and error."""
    for number, file in enumerate(files):
        os.dup2(file.detach(), number)
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    os.chdir(folder)
    sys.argv = ["dfop", *arguments]
    from dfop.__main__ import main

    main()


class Command:
    """What `subprocess.Popen` is, as far as it is needed here; `files` are those of the command."""

    def __init__(self, arguments, folder, files):
        FORKS.set_forkserver_preload(PRELOAD)
        given = [str(argument) for argument in arguments]
        # DupFd can be made only while a process is started: Sent makes them then
        self.process = FORKS.Process(target=work, args=(given, str(folder), Sent(files)))
        self.process.start()

    def send_signal(self, which):
        os.kill(self.process.pid, which)

    def kill(self):
        self.process.kill()

    def wait(self):
        self.process.join()
        return self.process.exitcode


class Sent(list):
    """Open files that go to a new process."""

    def __reduce__(self):
        return list, ([DupFd(file) for file in self],)


class Piped(Command):
    """A command with a pipe at each end."""

    def __init__(self, arguments, folder):
        pipes = [os.pipe() for _ in range(3)]
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
        super().__init__(arguments, folder, theirs)
        for file in theirs:
            os.close(file)
        self.stdin = os.fdopen(pipes[0][1], "w", buffering=1)
        self.stdout, self.stderr = os.fdopen(pipes[1][0]), os.fdopen(pipes[2][0])

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            self.kill()
        for file in (self.stdin, self.stdout, self.stderr):
            file.close()
        self.wait()


def run(arguments, folder, text=""):
    """Run a command to its end, as `subprocess.run` does."""
    with Piped(arguments, folder) as command:
        errors = []
        reader = threading.Thread(target=lambda: errors.append(command.stderr.read()))
        writer = threading.Thread(target=lambda: (command.stdin.write(text), command.stdin.close()))
        reader.start()
        writer.start()
        said = command.stdout.read()
        reader.join()
        writer.join()
        return subprocess.CompletedProcess(arguments, command.wait(), said, errors[0])


CLIENT = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({path!r})
    socket.send_fds(server, [json.dumps([sys.argv[1:], os.getcwd()]).encode()], [0, 1, 2])
    sys.exit(int(server.recv(9)))
"""


class Programs:
    """A folder for PATH with a program `dfop`; one that is killed takes its fork along."""

    def __init__(self, folder):
        self.folder = folder
        path = str(folder / "socket")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        program = folder / "dfop"
        program.write_text(CLIENT.format(python=sys.executable, path=path))
        program.chmod(0o755)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        message, files, *_ = socket.recv_fds(client, 100_000, 3)
        command = Command(*json.loads(message), files)
        for file in files:
            os.close(file)

        def die_with_it():
            if not client.recv(1):
                command.kill()

        threading.Thread(target=die_with_it, daemon=True).start()
        code = command.wait()
        with client, contextlib.suppress(BrokenPipeError):  # who asked may have been killed
            client.sendall(str(code if code >= 0 else 128 - code).encode())

    def close(self):
        self.listener.close()
