package eureka_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

func TestMalformed(t *testing.T) {
	for name, row := range map[string]struct {
		format eureka.Format
		text   string
		want   error
	}{
		"eureka 7 no JSON":              {eureka.JSON, "hello", eureka.ErrMalformed},
		"nothing":                       {eureka.JSON, "", eureka.ErrMalformed},
		"no wrapper":                    {eureka.JSON, `{"app":"a"}`, eureka.ErrMalformed},
		"an array":                      {eureka.JSON, `[{"instance":{"app":"a"}}]`, eureka.ErrMalformed},
		"instance null":                 {eureka.JSON, `{"instance":null}`, eureka.ErrMalformed},
		"no app":                        {eureka.JSON, `{"instance":{}}`, eureka.ErrMalformed},
		"port that is none":             {eureka.JSON, `{"instance":{"app":"a","port":{"$":"x"}}}`, eureka.ErrMalformed},
		"unknown data centre":           {eureka.JSON, `{"instance":{"app":"a","dataCenterInfo":{"name":"Moon"}}}`, eureka.ErrMalformed},
		"something behind":              {eureka.JSON, `{"instance":{"app":"a"}} x`, eureka.ErrMalformed},
		"NUL behind":                    {eureka.JSON, "{\"instance\":{\"app\":\"a\"}}\x00", eureka.ErrMalformed},
		"comma at the end":              {eureka.JSON, `{"instance":{"app":"a",}}`, eureka.ErrMalformed},
		"comma at the end of an array":  {eureka.JSON, `{"instance":{"app":"a","x":[1,]}}`, eureka.ErrMalformed},
		"no comma":                      {eureka.JSON, `{"instance":{"app":"a" "b":1}}`, eureka.ErrMalformed},
		"no colon":                      {eureka.JSON, `{"instance":{"app" "a"}}`, eureka.ErrMalformed},
		"cut off":                       {eureka.JSON, `{"instance":{"app":"a"`, eureka.ErrMalformed},
		"cut off in a string":           {eureka.JSON, `{"instance":{"app":"a`, eureka.ErrMalformed},
		"cut off in an escape":          {eureka.JSON, `{"instance":{"app":"\u12`, eureka.ErrMalformed},
		"unknown escape":                {eureka.JSON, `{"instance":{"app":"\x"}}`, eureka.ErrMalformed},
		"hex that is none":              {eureka.JSON, `{"instance":{"app":"\u12g4"}}`, eureka.ErrMalformed},
		"control character":             {eureka.JSON, "{\"instance\":{\"app\":\"a\nb\"}}", eureka.ErrMalformed},
		"control character past escape": {eureka.JSON, "{\"instance\":{\"app\":\"\\na\nb\"}}", eureka.ErrMalformed},
		"not UTF-8":                     {eureka.JSON, "{\"instance\":{\"app\":\"caf\xe9\"}}", eureka.ErrMalformed},
		"not UTF-8 past an escape":      {eureka.JSON, "{\"instance\":{\"app\":\"\\ncaf\xe9\"}}", eureka.ErrMalformed},
		"UTF-16":                        {eureka.JSON, "\xff\xfe{\x00", eureka.ErrMalformed},
		"word that is none":             {eureka.JSON, `{"instance":{"app":tru}}`, eureka.ErrMalformed},
		"number 01":                     {eureka.JSON, `{"instance":{"app":01}}`, eureka.ErrMalformed},
		"number 1.":                     {eureka.JSON, `{"instance":{"app":1.}}`, eureka.ErrMalformed},
		"number -":                      {eureka.JSON, `{"instance":{"app":-}}`, eureka.ErrMalformed},
		"number 1e":                     {eureka.JSON, `{"instance":{"app":1e}}`, eureka.ErrMalformed},
		"number 1-2":                    {eureka.JSON, `{"instance":{"app":1-2}}`, eureka.ErrMalformed},
		"comment":                       {eureka.JSON, `{"instance":{/**/"app":"a"}}`, eureka.ErrMalformed},
		"nested too deep":               {eureka.JSON, `{"instance":{"x":` + strings.Repeat("[", 1e6), eureka.ErrTooLarge},
		"objects nested too deep":       {eureka.JSON, `{"instance":{"x":` + strings.Repeat(`{"a":`, 1e6), eureka.ErrTooLarge},
		"metadata without end":          {eureka.JSON, `{"instance":{"metadata":{` + manyMembers(1001) + `}}}`, eureka.ErrTooLarge},
		"too many bytes":                {eureka.JSON, `{"instance":{"app":"` + strings.Repeat("a", 2<<20), eureka.ErrTooLarge},
		"XML nothing":                   {eureka.XML, "", eureka.ErrMalformed},
		"XML another element":           {eureka.XML, "<html/>", eureka.ErrMalformed},
		"XML two roots":                 {eureka.XML, "<instance><app>a</app></instance><instance/>", eureka.ErrMalformed},
		"XML no app":                    {eureka.XML, "<instance/>", eureka.ErrMalformed},
		"XML blanks around a port":      {eureka.XML, "<instance><app>a</app><port> 1 </port></instance>", eureka.ErrMalformed},
		"XML cut off":                   {eureka.XML, "<instance><app>a", eureka.ErrMalformed},
		"XML tags that do not match":    {eureka.XML, "<instance><app>a</ipp></instance>", eureka.ErrMalformed},
		"XML entity bomb":               {eureka.XML, bomb, eureka.ErrMalformed},
		"XML external entity":           {eureka.XML, `<!DOCTYPE x SYSTEM "file:///etc/passwd"><instance><app>a</app></instance>`, eureka.ErrMalformed},
		"XML unknown entity":            {eureka.XML, `<instance><app>&lol;</app></instance>`, eureka.ErrMalformed},
		"XML encoding":                  {eureka.XML, `<?xml version="1.0" encoding="EBCDIC"?><instance/>`, eureka.ErrMalformed},
		"XML not UTF-8":                 {eureka.XML, "<instance><app>\xe9</app></instance>", eureka.ErrMalformed},
		"XML nested too deep":           {eureka.XML, "<instance>" + strings.Repeat("<a>", 1e6), eureka.ErrTooLarge},
		"XML metadata without end":      {eureka.XML, "<instance><metadata>" + manyElements(1001) + "</metadata></instance>", eureka.ErrTooLarge},
		"XML too many bytes":            {eureka.XML, "<instance><app>" + strings.Repeat("a", 2<<20), eureka.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			d := eureka.Decoder{Format: row.format, Limits: eureka.Limits{Bytes: 1 << 20}}
			i, err := d.Instance(strings.NewReader(row.text))
			if !errors.Is(err, row.want) || i != nil {
				t.Errorf("got %+v, %v", i, err)
			}
			if err != nil && len(err.Error()) > 200 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

const bomb = `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol1 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">]>` +
	`<instance><app>&lol1;</app></instance>`

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"k` + strings.Repeat("x", i%100) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + `":1`)
	}
	return b.String()
}

func manyElements(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("<k" + strings.Repeat("x", i%100) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + "/>")
	}
	return b.String()
}

// What is no list must never pass for an empty one.
func TestC175NoList(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"applications":null}`, `{"applications":{}}`, `{"applications":[]}`, `{"applications":{"error":1}}`, `{"applications":"x"}`,
		`<html><body>503</body></html>`, ``, `null`, `[]`, `{"applications":{"application":[`,
	} {
		if a, err := (eureka.Decoder{}).Applications(strings.NewReader(text)); err == nil {
			t.Errorf("%s was read as %+v", text, a)
		}
		if a, err := (eureka.Decoder{Format: eureka.XML}).Applications(strings.NewReader(text)); err == nil {
			t.Errorf("as XML, %s was read as %+v", text, a)
		}
	}
}

func TestCountsAreBounded(t *testing.T) {
	limits := eureka.Limits{Instances: 2}
	for name, text := range map[string]string{
		"applications": `{"applications":{"application":[{},{},{}]}}`,
		"instances":    `{"applications":{"application":[{"instance":[{},{}]},{"instance":[{}]}]}}`,
	} {
		if _, err := (eureka.Decoder{Limits: limits}).Applications(strings.NewReader(text)); !errors.Is(err, eureka.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	xml := `<applications><application/><application/><application/></applications>`
	if _, err := (eureka.Decoder{Format: eureka.XML, Limits: limits}).Applications(strings.NewReader(xml)); !errors.Is(err, eureka.ErrTooLarge) {
		t.Error(err)
	}
	if _, err := eureka.ReadReplication(strings.NewReader(`{"replicationList":[{},{},{}]}`), limits); !errors.Is(err, eureka.ErrTooLarge) {
		t.Error(err)
	}
	if _, err := eureka.ReadReplicationResults(strings.NewReader(`{"responseList":[{},{},{}]}`), limits); !errors.Is(err, eureka.ErrTooLarge) {
		t.Error(err)
	}
}

func TestReadersThatFail(t *testing.T) {
	failure := errors.New("connection reset")
	for _, f := range formats {
		half := strings.NewReader(encode(eureka.Encoder{Format: f}, full())[:60])
		if _, err := (eureka.Decoder{Format: f}).Instance(io.MultiReader(half, iotest.ErrReader(failure))); !errors.Is(err, failure) {
			t.Errorf("%s: %v", f, err)
		}
		stuck := readerFunc(func([]byte) (int, error) { return 0, nil })
		if _, err := (eureka.Decoder{Format: f}).Instance(stuck); !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("%s: %v", f, err)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A document may arrive in any pieces.
func TestByteByByte(t *testing.T) {
	for _, f := range formats {
		text := encode(eureka.Encoder{Format: f}, full())
		got, err := (eureka.Decoder{Format: f}).Instance(iotest.OneByteReader(strings.NewReader(text)))
		if err != nil || encode(eureka.Encoder{Format: f}, got) != text {
			t.Errorf("%s: %+v, %v", f, got, err)
		}
	}
}

func zipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.Bytes()
}

func TestUnpacked(t *testing.T) {
	text := encode(eureka.Encoder{}, full())
	for encoding, body := range map[string][]byte{"": []byte(text), "identity": []byte(text), "gzip": zipped(text), " X-GZIP": zipped(text)} {
		r, err := eureka.Unpacked(bytes.NewReader(body), encoding)
		if err != nil {
			t.Fatal(err)
		}
		if i, err := (eureka.Decoder{}).Instance(r); err != nil || i.ID != "a:b:1" {
			t.Errorf("%q: %+v, %v", encoding, i, err)
		}
	}
	if _, err := eureka.Unpacked(strings.NewReader(text), "br"); !errors.Is(err, eureka.ErrMediaType) {
		t.Error(err)
	}
	if _, err := eureka.Unpacked(strings.NewReader(text), "gzip"); !errors.Is(err, eureka.ErrMalformed) {
		t.Error(err)
	}
}

func TestPackedBomb(t *testing.T) {
	body := zipped(`{"instance":{"app":"` + strings.Repeat("a", 8<<20) + `"}}`)
	r, err := eureka.Unpacked(bytes.NewReader(body), "gzip")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (eureka.Decoder{Limits: eureka.Limits{Bytes: 1 << 20}}).Instance(r); !errors.Is(err, eureka.ErrTooLarge) {
		t.Errorf("%d bytes of gzip: %v", len(body), err)
	}
}

func TestPackedWithoutItsEnd(t *testing.T) {
	body := zipped(encode(eureka.Encoder{}, full()))
	r, err := eureka.Unpacked(bytes.NewReader(body[:len(body)-4]), "gzip")
	if err != nil {
		t.Fatal(err)
	}
	if i, err := (eureka.Decoder{}).Instance(r); err == nil {
		t.Errorf("read %+v though the checksum is missing", i)
	}
}
