package admin

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/gozer-gateway/gozer/internal/errorbody"
)

// object is a JSON object that keeps the order of its keys. Setting a key again
// replaces its value in place.
type object struct {
	keys   []string
	values map[string]any
}

func (o *object) set(key string, value any) {
	if o.values == nil {
		o.values = map[string]any{}
	}
	if _, there := o.values[key]; !there {
		o.keys = append(o.keys, key)
	}
	o.values[key] = value
}

// MarshalJSON writes the keys in order.
func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, key := range o.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encode(&b, key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := encode(&b, o.values[key]); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode writes JSON that is not meant for a web page, so "&" stays readable.
func encode(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func write(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	if err := encode(&b, v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n"))) // the asker has gone
}

func fail(w http.ResponseWriter, r *http.Request, status int, message string) {
	write(w, status, errorbody.New(status, message, r.URL.EscapedPath()))
}

func notFound(w http.ResponseWriter, r *http.Request) {
	fail(w, r, http.StatusNotFound, "No message available")
}

func forbidden(w http.ResponseWriter, r *http.Request) {
	fail(w, r, http.StatusForbidden, "Cross-origin request")
}
