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

// Successor is a process that is to take the place of this one.
type Successor struct {
	Path      string
	Args      []string
	Listeners []Listener
	State     func(io.Writer) error // writes what it has to know, see [Sockets.ReadState]; nil: nothing
	Limit     time.Duration         // until it is ready
}

// Start starts the program with the listeners, and waits until it says that it is ready. It
// returns its process id. If it ends before that, or does not say so within the limit or
// before ctx ends, it is killed and the error tells why; the listeners are as they were in any
// case.
func (s Successor) Start(ctx context.Context) (pid int, err error) {
	if runtime.GOOS == "windows" {
		return 0, ErrNotHere
	}
	files, told, err := descriptors(s.Listeners)
	defer closeAll(files)
	if err != nil {
		return 0, err
	}
	hear, say, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("handover: %w", err)
	}
	defer func() { _ = hear.Close() }()
	state, end, err := s.told()
	if err != nil {
		return 0, err
	}
	defer end()
	cmd := exec.CommandContext(context.WithoutCancel(ctx), s.Path, s.Args...) // it is to outlive this process
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = append(files, say)
	cmd.Env = append(cmd.Environ(), ownSockets+"="+told, ownReady+"="+strconv.Itoa(first+len(files)))
	if state != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, state)
		cmd.Env = append(cmd.Env, ownState+"="+strconv.Itoa(first+len(files)+1))
	}
	err = cmd.Start()
	_ = say.Close() // so that the end of the other process ends the pipe
	if err != nil {
		return 0, fmt.Errorf("handover: starting %s: %w", s.Path, err)
	}
	if err := await(ctx, hear, s.Limit); err != nil {
		_ = cmd.Process.Kill() // it may have ended by itself
		return 0, errors.Join(err, ended(cmd.Wait()))
	}
	go func() { _ = cmd.Wait() }() // so that it leaves no zombie should it end first
	return cmd.Process.Pid, nil
}

// told is the end of a pipe that the new process reads its state from; nil: it has none. What
// it has not read when end is called is lost.
func (s Successor) told() (from *os.File, end func(), err error) {
	if s.State == nil {
		return nil, func() {}, nil
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("handover: %w", err)
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		_ = s.State(to) // the reader notices
		_ = to.Close()
	}()
	return from, func() {
		_ = from.Close() // a copy
		_ = to.Close()   // for a process that does not read
		<-written
	}, nil
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
