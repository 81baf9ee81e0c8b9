package eureka

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/discovery"
)

// Client follows a registry's list of instances. It is a [discovery.Source] of the
// applications by their names in lower case. When the registry is gone or talks
// nonsense the last good list stays. Its methods may be called from any goroutine.
type Client struct {
	settings  ClientSettings
	transport *transport
	session   *session
	convert   converter
	view      atomic.Pointer[View]
	pushed    chan pushEvent
	repairs   bucket // of lists that a push has spoilt; the poller's own
	vanished  *vanished

	mu    sync.Mutex // guards state
	state ClientState
}

var _ discovery.Source = (*Client)(nil)

// ClientState is how a client is doing.
type ClientState struct {
	// Fetched is when the list was last heard to be right; zero before the first time.
	Fetched time.Time
	// Trouble is what went wrong since then, "" if nothing.
	Trouble string
	// Pushing tells whether the registry pushes changes.
	Pushing bool
	// Restored tells whether the list is still the one from the disk.
	Restored bool
}

// NewClient makes a client that does nothing until Run. The error says which service
// URL is none.
func NewClient(s ClientSettings) (*Client, error) {
	s = s.filled()
	servers, err := s.Servers.endpoints()
	if err != nil {
		return nil, err
	}
	t := newTransport(s.Servers)
	c := &Client{
		settings: s, transport: t, session: newSession(s.Servers, servers, t.exchange),
		convert:  converter{zone: s.Servers.zoneOfOthers()},
		pushed:   make(chan pushEvent),
		repairs:  bucket{burst: 3, rate: 12},
		vanished: newVanished(s.KeepVanished),
	}
	c.view.Store(newView(&Applications{VersionsDelta: -1}, s.AllStatuses))
	return c, nil
}

// View is what is known now, empty before the first list.
func (c *Client) View() *View { return c.view.Load() }

// State tells how the client is doing.
func (c *Client) State() ClientState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Run fetches the list and its changes until ctx ends. Call it once.
func (c *Client) Run(ctx context.Context, updates chan<- discovery.Update) error {
	defer c.transport.close()
	var running sync.WaitGroup
	defer running.Wait()
	if !c.settings.NoPush && c.settings.SingleVIP == "" {
		running.Go(func() { c.followPushes(ctx) })
	}
	file := newSnapshotFile(c.settings)
	defer file.save(c)
	if file.load(c) {
		c.report(ctx, updates)
	}
	c.poll(ctx, updates, file)
	return nil
}

// poll refreshes at once and then every interval, sooner while there has never been a
// list, and takes what is pushed in between.
func (c *Client) poll(ctx context.Context, updates chan<- discovery.Update, file *snapshotFile) {
	supervisor := newSupervisor(c.settings.FetchInterval, c.settings.BackOffBound)
	eager := time.Second
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		before := c.View()
		select {
		case <-ctx.Done():
			return
		case e := <-c.pushed:
			if c.takePush(ctx, e) {
				break
			}
			supervisor.run(ctx, func(ctx context.Context) error { return c.refresh(ctx, true) })
		case <-timer.C:
			wait := supervisor.run(ctx, func(ctx context.Context) error { return c.refresh(ctx, false) })
			if c.State().Fetched.IsZero() {
				wait, eager = min(wait, eager), 2*eager
			}
			timer.Reset(wait)
		}
		if settled := c.vanished.settle(c.View(), time.Now()); settled || c.View() != before {
			c.report(ctx, updates)
			file.offer(c)
		}
	}
}

func (c *Client) report(ctx context.Context, updates chan<- discovery.Update) {
	update := c.convert.update(c.View())
	c.vanished.add(update, &c.convert)
	select {
	case updates <- update:
	case <-ctx.Done():
	}
}

// refresh gets what has changed, or everything when that does not add up. fresh asks
// our own registry not to answer from its cache.
func (c *Client) refresh(ctx context.Context, fresh bool) error {
	err := c.fetch(ctx, fresh)
	c.note(ctx, err)
	return err
}

func (c *Client) fetch(ctx context.Context, fresh bool) error {
	known := c.View()
	if c.settings.DisableDelta || c.settings.SingleVIP != "" || known.Len() == 0 || known.version == -1 || c.State().Restored {
		return c.fetchAll(ctx, fresh)
	}
	var delta *Applications
	call := listCall("fetch delta", "apps/delta", c.regions(), fresh, c.settings.Servers.Limits, &delta)
	call.also = func(status int) bool { return status == http.StatusForbidden || status == http.StatusNotFound }
	if _, err := c.session.do(ctx, call); err != nil {
		return err
	}
	if delta == nil || !c.apply(delta) {
		return c.fetchAll(ctx, fresh)
	}
	return nil
}

func (c *Client) regions() string { return strings.Join(c.settings.Regions, ",") }

// apply takes a delta over unless the result has another hash than the registry.
func (c *Client) apply(delta *Applications) bool {
	known := c.View()
	next := known.with(delta)
	if !delta.HasHash || next.Hash() != delta.HashCode {
		c.settings.Servers.Logger.Debug("eureka: delta does not add up", "here", next.Hash(), "registry", delta.HashCode)
		return false
	}
	c.vanished.hear(delta)
	c.view.Store(next)
	return true
}

func (c *Client) fetchAll(ctx context.Context, fresh bool) error {
	path := "apps/"
	if c.settings.SingleVIP != "" {
		path = vipPath(c.settings.SingleVIP)
	}
	var list *Applications
	if _, err := c.session.do(ctx, listCall("fetch", path, c.regions(), fresh, c.settings.Servers.Limits, &list)); err != nil {
		return err
	}
	if list == nil {
		return fmt.Errorf("%w: fetch: an answer without a list", ErrNoServer)
	}
	next := newView(list, c.settings.AllStatuses)
	if kept := c.vanished.compare(c.View(), next, time.Now()); kept > 0 {
		c.settings.Servers.Logger.Warn("eureka: the registry has lost most of its list, as one does that was restarted alone; what it lacks stays for a while",
			"instances", next.Len(), "kept", kept, "for", c.settings.KeepVanished)
	}
	c.view.Store(next)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.Restored = false
	return nil
}

// note keeps the state and logs what is new.
func (c *Client) note(ctx context.Context, err error) {
	if err != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	log := c.settings.Servers.Logger
	switch {
	case err == nil:
		if c.state.Trouble != "" || c.state.Fetched.IsZero() {
			log.Info("eureka: list of instances fetched", "instances", c.View().Len(), "hash", c.View().Hash())
		}
		c.state.Trouble, c.state.Fetched = "", time.Now()
	case c.state.Trouble != err.Error():
		log.Warn("eureka: list of instances not fetched, the last one stays", "instances", c.View().Len(), "error", err)
		c.state.Trouble = err.Error()
	}
}
