package config

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
)

// decoder fills Go values from nodes and collects what does not fit.
type decoder struct {
	findings []Finding
}

func decodeInto(n *node, path string, into any) error {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() || target.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("config: %s: settings go into a pointer to a struct, not into a %T", path, into)
	}
	var d decoder
	d.value(n, path, target.Elem())
	if len(d.findings) == 0 {
		return nil
	}
	return &SettingsError{d.findings}
}

func (d *decoder) fail(n *node, path string, err error) {
	d.findings = append(d.findings, Finding{Error, path, n.at, err.Error()})
}

func (d *decoder) value(n *node, path string, target reflect.Value) {
	switch {
	case target.Kind() == reflect.Pointer:
		if target.IsNil() {
			target.Set(reflect.New(target.Type().Elem()))
		}
		d.value(n, path, target.Elem())
	case d.texted(n, path, target):
	case target.Kind() == reflect.Struct:
		d.structure(n, path, target)
	case target.Kind() == reflect.Map:
		d.mapping(n, path, target)
	case target.Kind() == reflect.Slice:
		d.slice(n, path, target)
	case target.Kind() == reflect.Interface && target.NumMethod() == 0:
		target.Set(reflect.ValueOf(n.plain()))
	default:
		if err := setScalar(n, target); err != nil {
			d.fail(n, path, err)
		}
	}
}

// texted lets a type read itself.
func (d *decoder) texted(n *node, path string, target reflect.Value) bool {
	if !target.CanAddr() {
		return false
	}
	reader, ok := reflect.TypeAssert[encoding.TextUnmarshaler](target.Addr())
	if !ok {
		return false
	}
	text, err := textOf(n)
	if err == nil && reader.UnmarshalText([]byte(text)) != nil {
		err = fault(n, "is no %s", target.Type())
	}
	if err != nil {
		d.fail(n, path, err)
	}
	return true
}

func (d *decoder) structure(n *node, path string, target reflect.Value) {
	if n.kind != table {
		if n.kind != scalar || n.text != "" {
			d.fail(n, path, fmt.Errorf("expected a section, found %s", n.kind))
		}
		return
	}
	names := fieldNames(target.Type())
	for _, f := range n.fields {
		index, ok := names[uniform(f.name)]
		if !ok {
			d.fail(&node{at: f.at}, path+"."+f.name, fmt.Errorf("unknown setting%s", didYouMean(nearestName(f.name, names))))
			continue
		}
		d.value(f.value, path+"."+f.name, target.FieldByIndex(index))
	}
}

// fieldNames gives the exported fields, those of embedded structs too, by uniform name.
func fieldNames(t reflect.Type) map[string][]int {
	names := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		embedded := f.Anonymous && f.Type.Kind() == reflect.Struct
		if !f.IsExported() || embedded || !throughStructs(t, f.Index) {
			continue
		}
		name, ok := f.Tag.Lookup("config")
		if !ok {
			name = f.Name
		}
		names[uniform(name)] = f.Index
	}
	return names
}

// throughStructs tells whether no pointer is on the way to a promoted field.
func throughStructs(t reflect.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		if t = t.Field(i).Type; t.Kind() != reflect.Struct {
			return false
		}
	}
	return true
}

func nearestName(wanted string, names map[string][]int) string {
	best, bestDistance := "", 3
	for name := range names {
		d := distance(uniform(wanted), name, 2)
		if d < bestDistance || d == bestDistance && d < 3 && name < best {
			best, bestDistance = name, d
		}
	}
	return best
}

func (d *decoder) mapping(n *node, path string, target reflect.Value) {
	if n.kind != table || target.Type().Key().Kind() != reflect.String {
		if n.kind != scalar || n.text != "" {
			d.fail(n, path, fmt.Errorf("expected a section, found %s", n.kind))
		}
		return
	}
	m := reflect.MakeMap(target.Type())
	for _, f := range n.fields {
		entry := reflect.New(target.Type().Elem()).Elem()
		d.value(f.value, path+"."+f.name, entry)
		m.SetMapIndex(reflect.ValueOf(f.name).Convert(target.Type().Key()), entry)
	}
	target.Set(m)
}

func (d *decoder) slice(n *node, path string, target reflect.Value) {
	items := n.items
	if n.kind != list {
		var err error
		if items, err = listOf(n); err != nil {
			d.fail(n, path, err)
			return
		}
	}
	s := reflect.MakeSlice(target.Type(), len(items), len(items))
	for i, item := range items {
		d.value(item, fmt.Sprintf("%s[%d]", path, i), s.Index(i))
	}
	target.Set(s)
}

func setScalar(n *node, target reflect.Value) error {
	switch target.Kind() {
	case reflect.String:
		text, err := textOf(n)
		target.SetString(text)
		return err
	case reflect.Bool:
		b, err := boolOf(n)
		target.SetBool(b)
		return err
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return setInt(n, target)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return setUint(n, target)
	case reflect.Float32, reflect.Float64:
		return setFloat(n, target)
	default:
		return fmt.Errorf("a setting cannot be a %s", target.Type())
	}
}

func setInt(n *node, target reflect.Value) error {
	if target.Type() == reflect.TypeFor[time.Duration]() {
		d, err := durationOf(n, time.Millisecond)
		target.SetInt(int64(d))
		return err
	}
	i, err := intOf(n, math.MinInt, math.MaxInt)
	if err == nil && target.OverflowInt(int64(i)) {
		err = fault(n, "is out of range")
	}
	if err == nil {
		target.SetInt(int64(i))
	}
	return err
}

func setUint(n *node, target reflect.Value) error {
	i, err := intOf(n, 0, math.MaxInt)
	if err == nil && target.OverflowUint(uint64(i)) {
		err = fault(n, "is out of range")
	}
	if err == nil {
		target.SetUint(uint64(i))
	}
	return err
}

func setFloat(n *node, target reflect.Value) error {
	text, err := amount(n)
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || target.OverflowFloat(f) {
		return fault(n, "is not a number")
	}
	target.SetFloat(f)
	return nil
}
