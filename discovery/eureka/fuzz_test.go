package eureka_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

func seeds(f *testing.F, pattern string, more ...string) {
	f.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(names) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, text := range more {
		f.Add([]byte(text))
	}
}

// small keeps what a fuzzer builds quick to look at.
func small() eureka.Limits {
	return eureka.Limits{Bytes: 64 << 10, Depth: 12, Instances: 50, Metadata: 20}
}

// What was read is written, and reads the same again, in both formats.
func wantStable(t *testing.T, list *eureka.Applications) {
	t.Helper()
	for _, format := range formats {
		e, d := eureka.Encoder{Format: format}, eureka.Decoder{Format: format}
		once := e.AppendApplications(nil, list)
		again, err := d.Applications(bytes.NewReader(once))
		if err != nil {
			t.Fatalf("%s: cannot read what was written: %v\n%s", format, err, once)
		}
		if again.Len() != list.Len() || again.Hash() != list.Hash() {
			t.Errorf("%s: %d instances, hash %s, before %d, %s", format, again.Len(), again.Hash(), list.Len(), list.Hash())
		}
		if format == eureka.JSON {
			if diff := cmp.Diff(string(once), string(e.AppendApplications(nil, again))); diff != "" {
				t.Error(diff)
			}
		}
	}
}

func FuzzJSON(f *testing.F) {
	seeds(f, "*.json", string(eureka.Encoder{Compact: true}.AppendApplication(nil, &eureka.Application{Name: "A", Instances: []*eureka.Instance{full()}})),
		`{"applications":{"application":{"instance":{"port":8080,"metadata":{"é\u00e9\ud83d\ude00":null}}}}}`)
	f.Fuzz(func(t *testing.T, document []byte) {
		d := eureka.Decoder{Limits: small()}
		list, err := d.Applications(bytes.NewReader(document))
		if err == nil && !json.Valid(bytes.TrimPrefix(document, []byte("\uFEFF"))) {
			t.Errorf("read what is no JSON: %q", document)
		}
		if err == nil {
			wantStable(t, list)
		}
		if i, err := d.Instance(bytes.NewReader(document)); err == nil {
			wantStable(t, &eureka.Applications{Applications: []eureka.Application{{Name: i.App, Instances: []*eureka.Instance{i}}}})
		}
		if items, err := eureka.ReadReplication(bytes.NewReader(document), small()); err == nil {
			if again, err := eureka.ReadReplication(bytes.NewReader(eureka.AppendReplication(nil, items)), small()); err != nil || len(again) != len(items) {
				t.Error(again, err)
			}
		}
		_, _ = eureka.ReadReplicationResults(bytes.NewReader(document), small())
	})
}

func FuzzXML(f *testing.F) {
	e := eureka.Encoder{Format: eureka.XML}
	seeds(f, "*.xml", string(e.AppendInstance(nil, full())), bomb, `<?xml version="1.0" encoding="iso-8859-1"?><applications><application/></applications>`)
	f.Fuzz(func(t *testing.T, document []byte) {
		d := eureka.Decoder{Format: eureka.XML, Limits: small()}
		if list, err := d.Applications(bytes.NewReader(document)); err == nil {
			wantStable(t, list)
		}
		if i, err := d.Instance(bytes.NewReader(document)); err == nil {
			wantStable(t, &eureka.Applications{Applications: []eureka.Application{{Name: i.App, Instances: []*eureka.Instance{i}}}})
		}
	})
}
