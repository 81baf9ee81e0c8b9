package tlsout_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/internal/certtest"
	"github.com/gozer-gateway/gozer/internal/tlsout"
)

func TestBadFiles(t *testing.T) {
	ca := certtest.NewCA(t, "ours")
	certificate, key := ca.Issue("a.test").Write()
	_, foreign := ca.Issue("b.test").Write()
	text, empty := filepath.Join(t.TempDir(), "text"), filepath.Join(t.TempDir(), "empty")
	if err := errors.Join(os.WriteFile(text, []byte("no PEM: s3cret"), 0o600), os.WriteFile(empty, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		files tlsout.Files
		part  tlsout.Part
		want  string
	}{
		"missing authorities":    {tlsout.Files{TrustCertificate: "/nowhere"}, tlsout.TrustCertificate, "/nowhere: no such file"},
		"no authority in it":     {tlsout.Files{TrustCertificate: text}, tlsout.TrustCertificate, "there is no certificate"},
		"empty authorities":      {tlsout.Files{TrustCertificate: empty}, tlsout.TrustCertificate, "there is no certificate"},
		"empty certificate":      {tlsout.Files{Certificate: empty, PrivateKey: key}, tlsout.Certificate, "there is no certificate"},
		"empty key":              {tlsout.Files{Certificate: certificate, PrivateKey: empty}, tlsout.PrivateKey, "no private key"},
		"missing certificate":    {tlsout.Files{Certificate: "/nowhere", PrivateKey: key}, tlsout.Certificate, "/nowhere: no such file"},
		"missing key":            {tlsout.Files{Certificate: certificate, PrivateKey: "/nowhere"}, tlsout.PrivateKey, "/nowhere: no such file"},
		"no certificate in it":   {tlsout.Files{Certificate: text, PrivateKey: key}, tlsout.Certificate, text},
		"no key in it":           {tlsout.Files{Certificate: certificate, PrivateKey: text}, tlsout.PrivateKey, text},
		"key of another":         {tlsout.Files{Certificate: certificate, PrivateKey: foreign}, tlsout.PrivateKey, "does not match"},
		"certificate without it": {tlsout.Files{Certificate: certificate}, tlsout.Certificate, "no file is named for its private key"},
		"key alone":              {tlsout.Files{PrivateKey: key}, tlsout.PrivateKey, "no file is named for its certificate"},
		"a folder":               {tlsout.Files{TrustCertificate: t.TempDir()}, tlsout.TrustCertificate, "is a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := row.files.Load()
			joined, ok := err.(interface{ Unwrap() []error })
			if !ok || len(joined.Unwrap()) != 1 {
				t.Fatalf("%v, want one problem", err)
			}
			broken, ok := errors.AsType[*tlsout.FileError](joined.Unwrap()[0])
			if !ok || broken.Part != row.part || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%v, want %q", err, row.want)
			}
		})
	}
}

func TestMaterialIsItsBytes(t *testing.T) {
	ca := certtest.NewCA(t, "ours")
	f := tlsout.Files{TrustCertificate: ca.Write()}
	f.Certificate, f.PrivateKey = ca.Issue("a.test").Write()
	load := func() *tlsout.Material {
		m, err := f.Load()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	before := load()
	if !before.Equal(load()) {
		t.Error("unchanged files are something else")
	}
	ca.Issue("a.test").Replace(f.Certificate, f.PrivateKey)
	if before.Equal(load()) {
		t.Error("a new certificate is the old one")
	}
}

func TestWatch(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(to string) {
		next := filepath.Join(dir, "next")
		if err := os.Symlink(to, next); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, filepath.Join(dir, "current")); err != nil {
			t.Fatal(err)
		}
	}
	first, second := file("first", "1"), file("second", "2")
	link(first)
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var changes atomic.Int32
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			tlsout.Watch{Files: func() []string { return []string{filepath.Join(dir, "current")} }, Changed: func() { changes.Add(1) }}.Run(ctx)
		}()
		expect := func(want int32, what string) {
			<-time.After(2 * time.Second)
			synctest.Wait()
			if got := changes.Load(); got != want {
				t.Errorf("%d changes after %s, want %d", got, what, want)
			}
		}
		expect(0, "nothing")
		link(second)
		expect(1, "the swap of a link")
		file("second", "longer")
		expect(2, "a write")
		if err := os.Remove(second); err != nil {
			t.Fatal(err)
		}
		expect(3, "a removal")
		stop()
		<-ended
	})
}
