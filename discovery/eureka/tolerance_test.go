package eureka_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

const ownClass = `"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"`

// What section 2.5 says of odd input, member by member of an instance.
func TestToleranceInJSON(t *testing.T) {
	type edit = func(i *eureka.Instance)
	own := eureka.DataCenter{Name: "MyOwn", Class: "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"}
	amazon := eureka.DataCenter{Name: "Amazon", Class: "com.netflix.appinfo.AmazonInfo", Metadata: map[string]string{}}
	lease := eureka.Lease{RenewalInterval: 30 * time.Second, Duration: 90 * time.Second}
	for name, row := range map[string]struct {
		member string
		want   edit
	}{
		"nothing":                                         {``, func(*eureka.Instance) {}},
		"eureka 82 enabled in capitals":                   {`"port":{"$":1,"@enabled":"FALSE"}`, func(i *eureka.Instance) { i.Port = eureka.Port{Number: 1} }},
		"eureka 82 enabled as a boolean":                  {`"securePort":{"@enabled":true,"$":"1"}`, func(i *eureka.Instance) { i.SecurePort = eureka.Port{Number: 1, Enabled: true} }},
		"eureka 81 port as text":                          {`"port":{"$":"8080"}`, func(i *eureka.Instance) { i.Port = eureka.Port{Number: 8080, Enabled: true} }},
		"secure port without enabled":                     {`"securePort":{"$":1}`, func(i *eureka.Instance) { i.SecurePort = eureka.Port{Number: 1} }},
		"port as a plain number":                          {`"port":8080`, func(i *eureka.Instance) { i.Port = eureka.Port{Number: 8080, Enabled: true} }},
		"secure port as a plain number":                   {`"securePort":"8443"`, func(i *eureka.Instance) { i.SecurePort = eureka.Port{Number: 8443, Enabled: true} }},
		"other key in a port":                             {`"port":{"$":1,"enabled":false,"x":{}}`, func(i *eureka.Instance) { i.Port = eureka.Port{Number: 1, Enabled: true} }},
		"port null":                                       {`"port":null`, func(*eureka.Instance) {}},
		"eureka 83 data centre without class":             {`"dataCenterInfo":{"name":"MyOwn"}`, func(i *eureka.Instance) { i.DataCenter = own }},
		"class last":                                      {`"dataCenterInfo":{"name":"MyOwn",` + ownClass + `}`, func(i *eureka.Instance) { i.DataCenter = own }},
		"another class of one's own":                      {`"dataCenterInfo":{"@class":"com.netflix.appinfo.MyDataCenterInfo","name":"MyOwn"}`, func(i *eureka.Instance) { i.DataCenter = own }},
		"eureka 89 a class that is none of ours":          {`"dataCenterInfo":{"@class":"void","name":"MyOwn"}`, func(i *eureka.Instance) { i.DataCenter = own }},
		"data centre null":                                {`"dataCenterInfo":null`, func(*eureka.Instance) {}},
		"eureka 5 data centre without name":               {`"dataCenterInfo":{` + ownClass + `,"name":null}`, func(i *eureka.Instance) { i.DataCenter = eureka.DataCenter{Class: own.Class} }},
		"default class with metadata":                     {`"dataCenterInfo":{` + ownClass + `,"name":"MyOwn","metadata":{"a":"b"}}`, func(i *eureka.Instance) { i.DataCenter = own }},
		"default class with name Amazon":                  {`"dataCenterInfo":{` + ownClass + `,"name":"Amazon","metadata":{"a":"b"}}`, func(i *eureka.Instance) { i.DataCenter = eureka.DataCenter{Name: "Amazon", Class: own.Class} }},
		"Amazon without metadata":                         {`"dataCenterInfo":{"@class":"com.netflix.appinfo.AmazonInfo","name":"Amazon"}`, func(i *eureka.Instance) { i.DataCenter = amazon }},
		"Amazon without class":                            {`"dataCenterInfo":{"name":"Amazon","metadata":{}}`, func(i *eureka.Instance) { i.DataCenter = amazon }},
		"eureka 84 status in lower case":                  {`"status":"up"`, func(i *eureka.Instance) { i.Status = eureka.Unknown }},
		"status empty":                                    {`"status":""`, func(i *eureka.Instance) { i.Status = eureka.Unknown }},
		"status null":                                     {`"status":null`, func(*eureka.Instance) {}},
		"eureka 79 override":                              {`"overriddenStatus":"DOWN"`, func(i *eureka.Instance) { i.OverriddenStatus = eureka.Down }},
		"eureka 79 override in lower case":                {`"overriddenstatus":"DOWN"`, func(i *eureka.Instance) { i.OverriddenStatus = eureka.Down }},
		"override empty":                                  {`"overriddenstatus":""`, func(*eureka.Instance) {}},
		"eureka 80 metadata with class":                   {`"metadata":{"@class":"java.util.Collections$EmptyMap"}`, func(*eureka.Instance) {}},
		"eureka 80 metadata with class and values":        {`"metadata":{"@class":"java.util.Collections$EmptyMap","a":"b"}`, func(i *eureka.Instance) { i.Metadata = map[string]string{"a": "b"} }},
		"metadata of other types":                         {`"metadata":{"n":1.50,"b":true,"0":null,"o":{"a":1},"l":[1]}`, func(i *eureka.Instance) { i.Metadata = map[string]string{"n": "1.50", "b": "true"} }},
		"metadata null":                                   {`"metadata":null`, func(*eureka.Instance) {}},
		"metadata escaped, as the codec of 2.8 writes it": {`"metadata":{"a__b":1},"port":{"@enabled":true,"$":"7001"}`, func(i *eureka.Instance) { i.Metadata = map[string]string{"a_b": "1"} }},
		"metadata as it is":                               {`"metadata":{"a__b":1},"port":{"@enabled":true,"$":7001}`, func(i *eureka.Instance) { i.Metadata = map[string]string{"a__b": "1"} }},
		"eureka 81 lease without fields":                  {`"leaseInfo":{}`, func(i *eureka.Instance) { i.Lease = lease }},
		"lease of nothing":                                {`"leaseInfo":{"renewalIntervalInSecs":0,"durationInSecs":-1,"evictionDurationInSecs":5}`, func(i *eureka.Instance) { i.Lease = lease }},
		"lease as text, with more": {
			`"leaseInfo":{"renewalIntervalInSecs":"5","durationInSecs":"1e1","renewalTimestamp":"7","x":true}`,
			func(i *eureka.Instance) {
				i.Lease = eureka.Lease{RenewalInterval: 5 * time.Second, Duration: 10 * time.Second, Renewed: at(7)}
			},
		},
		"lease null":                     {`"leaseInfo":null`, func(*eureka.Instance) {}},
		"dirty as text":                  {`"lastDirtyTimestamp":"12"`, func(i *eureka.Instance) { i.LastDirty = at(12) }},
		"dirty as a number":              {`"lastDirtyTimestamp":12`, func(i *eureka.Instance) { i.LastDirty = at(12) }},
		"dirty as a word":                {`"lastDirtyTimestamp":"abc"`, func(i *eureka.Instance) { i.LastDirty = at(0) }},
		"dirty empty":                    {`"lastDirtyTimestamp":""`, func(i *eureka.Instance) { i.LastDirty = at(0) }},
		"dirty null":                     {`"lastDirtyTimestamp":null`, func(*eureka.Instance) {}},
		"unknown fields":                 {`"a":1,"b":{"c":[{"d":null}]},"e":[[],{}],"f":"\u00e9\ud83d\ude00\n"`, func(*eureka.Instance) {}},
		"group in lower case":            {`"appGroupName":"g"`, func(i *eureka.Instance) { i.AppGroup = "G" }},
		"sid as usual":                   {`"sid":"na"`, func(*eureka.Instance) {}},
		"coordinating as a boolean":      {`"isCoordinatingDiscoveryServer":true`, func(i *eureka.Instance) { i.CoordinatingDiscoveryServer = true }},
		"unknown action":                 {`"actionType":"GONE"`, func(*eureka.Instance) {}},
		"action":                         {`"actionType":"DELETED"`, func(i *eureka.Instance) { i.Action = eureka.Deleted }},
		"country that is none":           {`"countryId":"de"`, func(*eureka.Instance) {}},
		"text fields of other types":     {`"hostName":1,"ipAddr":null,"vipAddress":[],"asgName":{}`, func(i *eureka.Instance) { i.HostName = "1" }},
		"half of a surrogate pair":       {`"hostName":"\ud83dx\ud83d\u0041\ude00"`, func(i *eureka.Instance) { i.HostName = "\uFFFDx\uFFFDA\uFFFD" }},
		"every escape":                   {`"hostName":"\"\\\/\b\f\n\r\t\u00E9"`, func(i *eureka.Instance) { i.HostName = "\"\\/\b\f\n\r\té" }},
		"a member twice, the last holds": {`"hostName":"a","hostName":"b"`, func(i *eureka.Instance) { i.HostName = "b" }},
	} {
		t.Run(name, func(t *testing.T) {
			text := `{"instance":{"app":"a"`
			if row.member != "" {
				text += "," + row.member
			}
			got, err := decode(eureka.JSON, text+`}}`)
			if err != nil {
				t.Fatal(err)
			}
			want := &eureka.Instance{App: "A", Status: eureka.Up, Port: eureka.Port{Number: 7001, Enabled: true}, SecurePort: eureka.Port{Number: 7002}, CountryID: 1}
			row.want(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestToleranceInXML(t *testing.T) {
	type edit = func(i *eureka.Instance)
	for name, row := range map[string]struct {
		element string
		want    edit
	}{
		"nothing":                        {``, func(*eureka.Instance) {}},
		"eureka 84 status in lower case": {`<status>up</status>`, func(*eureka.Instance) {}},
		"unknown status":                 {`<status>x</status>`, func(i *eureka.Instance) { i.Status = eureka.Unknown }},
		"override in lower case":         {`<overriddenstatus>down</overriddenstatus>`, func(i *eureka.Instance) { i.OverriddenStatus = eureka.Down }},
		"override in the other spelling": {`<overriddenStatus>DOWN</overriddenStatus>`, func(i *eureka.Instance) { i.OverriddenStatus = eureka.Down }},
		"port without attribute":         {`<port>1</port><securePort>2</securePort>`, func(i *eureka.Instance) { i.Port.Number, i.SecurePort.Number = 1, 2 }},
		"port off, secure port on": {`<port enabled="false">1</port><securePort enabled="true">2</securePort>`, func(i *eureka.Instance) {
			i.Port, i.SecurePort = eureka.Port{Number: 1}, eureka.Port{Number: 2, Enabled: true}
		}},
		"eureka 86 escaped keys":             {`<metadata><a__b>1</a__b><we_-ird>2</we_-ird><a_b>3</a_b></metadata>`, func(i *eureka.Instance) { i.Metadata = map[string]string{"a_b": "3", "we$ird": "2"} }},
		"empty metadata":                     {`<metadata class="java.util.Collections$EmptyMap"/>`, func(*eureka.Instance) {}},
		"unknown elements":                   {`<x><y a="b">z</y></x>`, func(*eureka.Instance) {}},
		"element in a text":                  {`<hostName>a<b>c</b>d</hostName>`, func(i *eureka.Instance) { i.HostName = "ad" }},
		"comment, data and entity in a text": {`<hostName>a<!-- b --><![CDATA[<c>]]>&amp;&#100;</hostName>`, func(i *eureka.Instance) { i.HostName = "a<c>&d" }},
		"the name decides about a data centre": {`<dataCenterInfo class="void"><name>amazon</name><metadata><a>b</a></metadata></dataCenterInfo>`, func(i *eureka.Instance) {
			i.DataCenter = eureka.DataCenter{Name: "Amazon", Class: "com.netflix.appinfo.AmazonInfo", Metadata: map[string]string{"a": "b"}}
		}},
		"metadata of one that is not Amazon": {`<dataCenterInfo><name>MyOwn</name><metadata><a>b</a></metadata></dataCenterInfo>`, func(i *eureka.Instance) {
			i.DataCenter = eureka.DataCenter{Name: "MyOwn", Class: "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"}
		}},
		"lease without fields": {`<leaseInfo/>`, func(i *eureka.Instance) {
			i.Lease = eureka.Lease{RenewalInterval: 30 * time.Second, Duration: 90 * time.Second}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decode(eureka.XML, `<?xml version="1.0" encoding="UTF-8"?><instance><app>a</app>`+row.element+`</instance>`)
			if err != nil {
				t.Fatal(err)
			}
			want := &eureka.Instance{App: "A", Status: eureka.Up, Port: eureka.Port{Number: 7001, Enabled: true}, SecurePort: eureka.Port{Number: 7002}, CountryID: 1}
			row.want(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEncodingsOfXML(t *testing.T) {
	got, err := decode(eureka.XML, "<?xml version='1.0' encoding='ISO-8859-1'?><instance><app>a</app><hostName>caf\xe9</hostName></instance>")
	if err != nil || got.HostName != "café" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestShapesOfLists(t *testing.T) {
	instance := func(app string) []*eureka.Instance {
		return []*eureka.Instance{{App: app, Status: eureka.Up, Port: eureka.Port{Number: 7001, Enabled: true}, SecurePort: eureka.Port{Number: 7002}, CountryID: 1}}
	}
	list := func(apps ...eureka.Application) *eureka.Applications {
		return &eureka.Applications{VersionsDelta: -1, Applications: apps}
	}
	versioned := func(a *eureka.Applications, version int64, hash string) *eureka.Applications {
		a.VersionsDelta, a.HashCode, a.HasHash = version, hash, true
		return a
	}
	one := eureka.Application{Name: "a", Instances: instance("A")}
	for name, row := range map[string]struct {
		text string
		want *eureka.Applications
	}{
		"C176 arrays":                            {`{"applications":{"application":[{"name":"a","instance":[{"app":"A"}]}]}}`, list(one)},
		"C176 eureka 87 object and object":       {`{"applications":{"application":{"name":"a","instance":{"app":"a"}}}}`, list(one)},
		"C176 array and object":                  {`{"applications":{"application":[{"name":"a","instance":{"app":"a"}}]}}`, list(one)},
		"C176 object and array":                  {`{"applications":{"application":{"name":"a","instance":[{"app":"a"}]}}}`, list(one)},
		"C176 no instance":                       {`{"applications":{"application":{"name":"a"}}}`, list(eureka.Application{Name: "a"})},
		"instance null":                          {`{"applications":{"application":[{"name":"a","instance":null}]}}`, list(eureka.Application{Name: "a"})},
		"things that are no instances":           {`{"applications":{"application":[1,null,{"name":"a","instance":["x",{"app":"a"}]}]}}`, list(one)},
		"an instance goes by its application":    {`{"applications":{"application":[{"instance":[{}],"name":"a"}]}}`, list(one)},
		"application missing when empty":         {`{"applications":{"versions__delta":1,"apps__hashcode":""}}`, versioned(list(), 1, "")},
		"versions as text":                       {`{"applications":{"versions__delta":"27","apps__hashcode":"UP_1_","application":[]}}`, versioned(list(), 27, "UP_1_")},
		"other spellings":                        {`{"applications":{"versions_delta":"27","appsHashcode":"UP_1_","application":[]}}`, versioned(list(), 27, "UP_1_")},
		"what only lists of the other form have": {`{"applications":{"application":[],"registeredApplicationsEmpty":true}}`, list()},
		"a byte order mark":                      {"\uFEFF" + ` {"x":[],"applications":{"application":[]}} `, list()},
		"bad instances do not spoil the others": {`{"applications":{"application":[{"name":"a","instance":[{"port":{"$":"x"},"dataCenterInfo":{"name":"?"}}]}]}}`, func() *eureka.Applications {
			i := instance("A")
			i[0].Port.Number, i[0].DataCenter = 0, eureka.DataCenter{Name: "MyOwn", Class: "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"}
			return list(eureka.Application{Name: "a", Instances: i})
		}()},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := eureka.Decoder{}.Applications(strings.NewReader(row.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSingleApplication(t *testing.T) {
	want := &eureka.Application{Name: "A", Instances: []*eureka.Instance{full()}}
	want.Instances[0].App = "A"
	for _, f := range formats {
		got, err := eureka.Decoder{Format: f}.Application(strings.NewReader(string(eureka.Encoder{Format: f}.AppendApplication(nil, want))))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", f, diff)
		}
	}
}
