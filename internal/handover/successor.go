package handover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Listener is one that is passed on: its name, and the address that the configuration
// gives it.
type Listener struct {
	Name, Address string
	Listener      net.Listener
}

// Program is the command line of this process, with the path of its program. A path
// with symbolic links stays as it is, so that it leads to whatever has been installed
// since.
func Program() (path string, args []string, err error) {
	path = os.Args[0]
	if !strings.ContainsRune(path, os.PathSeparator) {
		if path, err = exec.LookPath(path); err != nil {
			path, err = os.Executable()
		}
	}
	if err == nil {
		path, err = filepath.Abs(path)
	}
	return path, os.Args[1:], err
}

// Start starts the program as the successor of this process, with the listeners, and waits
// until it says that it is ready. It returns its process id. If it ends before that, or does
// not say so within the limit or before ctx ends, it is killed and the error tells why;
// the listeners are as they were in any case.
func Start(ctx context.Context, path string, args []string, listeners []Listener, limit time.Duration) (pid int, err error) {
	if runtime.GOOS == "windows" {
		return 0, ErrNotHere
	}
	files, told, err := descriptors(listeners)
	defer closeAll(files)
	if err != nil {
		return 0, err
	}
	hear, say, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("handover: %w", err)
	}
	defer func() { _ = hear.Close() }()
	cmd := exec.CommandContext(context.WithoutCancel(ctx), path, args...) // it is to outlive this process
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = append(files, say)
	cmd.Env = append(cmd.Environ(), ownSockets+"="+told, ownReady+"="+strconv.Itoa(first+len(files)))
	err = cmd.Start()
	_ = say.Close() // so that the end of the other process ends the pipe
	if err != nil {
		return 0, fmt.Errorf("handover: starting %s: %w", path, err)
	}
	if err := await(ctx, hear, limit); err != nil {
		_ = cmd.Process.Kill() // it may have ended by itself
		return 0, errors.Join(err, ended(cmd.Wait()))
	}
	go func() { _ = cmd.Wait() }() // so that it leaves no zombie should it end first
	return cmd.Process.Pid, nil
}

func ended(err error) error {
	if err == nil {
		return errors.New("handover: the new process has ended, with status 0")
	}
	return fmt.Errorf("handover: the new process has ended: %w", err)
}

// descriptors are copies of the sockets, and what the new process is told of them.
func descriptors(listeners []Listener) (files []*os.File, told string, err error) {
	var names []string
	for _, l := range listeners {
		source, able := l.Listener.(syscall.Conn)
		if !able {
			return files, "", fmt.Errorf("handover: the %s listener cannot be passed on", l.Name)
		}
		f, err := duplicate(source, l.Name)
		if err != nil {
			return files, "", fmt.Errorf("handover: the %s listener: %w", l.Name, err)
		}
		files = append(files, f)
		names = append(names, l.Name+"="+l.Address)
	}
	return files, strings.Join(names, ";"), nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // copies
	}
}

// await waits for the word.
func await(ctx context.Context, hear *os.File, limit time.Duration) error {
	if err := hear.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return fmt.Errorf("handover: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = hear.SetReadDeadline(time.Unix(1, 0)) })() // the read tells
	said := make([]byte, len(word))
	_, err := io.ReadFull(hear, said)
	switch {
	case err == nil && bytes.Equal(said, []byte(word)):
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("handover: given up: %w", context.Cause(ctx))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("handover: the new process is not ready after %s", limit)
	}
	return errors.New("handover: the new process has not become ready; what it has logged says why")
}
