package eureka

import (
	"io"
	"time"
)

// AppendReplication appends a batch of replication; there is no XML form.
func AppendReplication(b []byte, items []ReplicationItem) []byte {
	o := &jsonOutput{b: append(b, '{')}
	o.list("replicationList")
	for i := range items {
		o.comma()
		o.replication(&items[i])
	}
	return append(o.b, "]}"...)
}

// replication writes no member that is empty: peers refuse what they do not know.
func (o *jsonOutput) replication(i *ReplicationItem) {
	o.begin()
	f := o.fields()
	f.textIf("appName", i.AppName)
	f.textIf("id", i.ID)
	if !i.LastDirty.IsZero() {
		o.number("lastDirtyTimestamp", i.LastDirty.UnixMilli())
	}
	f.textIf("overriddenStatus", i.OverriddenStatus)
	f.textIf("status", i.Status)
	if i.Instance != nil {
		o.key("instanceInfo")
		o.instance(i.Instance, false)
	}
	f.textIf("action", string(i.Action))
	o.close("")
}

// AppendReplicationResults appends the answer to a batch.
func AppendReplicationResults(b []byte, results []ReplicationResult) []byte {
	o := &jsonOutput{b: append(b, '{')}
	o.list("responseList")
	for _, r := range results {
		o.comma()
		o.begin()
		o.number("statusCode", int64(r.StatusCode))
		if r.Instance != nil {
			o.key("responseEntity")
			o.instance(r.Instance, false)
		}
		o.close("")
	}
	return append(o.b, "]}"...)
}

// ReadReplication reads a batch. An item whose parts are odd is in the result as far as
// it could be read.
func ReadReplication(src io.Reader, l Limits) (items []ReplicationItem, err error) {
	d := newJSONDecoder(src, l)
	err = d.document("replicationList", func() {
		d.oneOrMore(func() {
			d.count(&d.shared.entries)
			var i ReplicationItem
			d.object(func(key []byte) { d.replicationMember(&i, string(key)) })
			items = append(items, i)
		})
	})
	if err != nil {
		return nil, err
	}
	return items, nil
}

func (d *jsonDecoder) replicationMember(i *ReplicationItem, key string) {
	if key == "instanceInfo" {
		if draft := d.instance(); draft != nil {
			i.Instance = draft.finish()
		}
		return
	}
	text, ok := d.scalar()
	if !ok {
		return
	}
	switch key {
	case "appName":
		i.AppName = d.shared.text(text)
	case "id":
		i.ID = d.shared.text(text)
	case "lastDirtyTimestamp":
		if n, ok := wholeNumber(text); ok {
			i.LastDirty = time.UnixMilli(n)
		}
	case "overriddenStatus":
		i.OverriddenStatus = d.shared.text(text)
	case "status":
		i.Status = d.shared.text(text)
	case "action":
		i.Action = ReplicationAction(d.shared.text(text))
	}
}

// ReadReplicationResults reads the answer to a batch.
func ReadReplicationResults(src io.Reader, l Limits) (results []ReplicationResult, err error) {
	d := newJSONDecoder(src, l)
	err = d.document("responseList", func() {
		d.oneOrMore(func() {
			d.count(&d.shared.entries)
			var r ReplicationResult
			d.object(func(key []byte) { d.resultMember(&r, string(key)) })
			results = append(results, r)
		})
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

func (d *jsonDecoder) resultMember(r *ReplicationResult, key string) {
	switch key {
	case "statusCode":
		if text, ok := d.scalar(); ok {
			n, _ := wholeNumber(text)
			r.StatusCode = int(n)
		}
	case "responseEntity":
		if draft := d.instance(); draft != nil {
			r.Instance = draft.finish()
		}
	default:
		d.skip()
	}
}
