package config

import (
	"reflect"
	"strings"
	"testing"
)

// TestKeys sets every supported key to something other than its default: each must be
// accepted and must change the result, or a row of the table is not wired up.
func TestKeys(t *testing.T) {
	names := map[string]bool{}
	for _, k := range Keys() {
		if names[uniform(k.Name)] {
			t.Errorf("%s is twice in the table", k.Name)
		}
		names[uniform(k.Name)] = true
		if k.Doc == "" {
			t.Errorf("%s is not explained", k.Name)
		}
		if k.Status != Supported || k.Type == sectionType {
			continue
		}
		name := strings.NewReplacer("<Filter>", "AFilter", "<phase>", "pre", "<", "my", ">", "", "**", "x").Replace(k.Name)
		t.Run(name, func(t *testing.T) {
			company := secureCompany(name)
			before, _ := Load("", Options{Set: company})
			sources := Options{Set: append(company, name+"="+other(k))}
			if strings.Contains(name, "mapper") {
				sources.Set = append(sources.Set, "gateway.service-route-mapper.service-pattern=x", "gateway.service-route-mapper.route-pattern=y")
			}
			if strings.HasPrefix(name, "server.proxy-protocol.enabled") {
				sources.Set = append(sources.Set, "server.proxy-protocol.trusted-proxies=10.0.0.0/8")
			}
			after, report := Load("", sources)
			if report.Err() != nil {
				t.Fatal(report)
			}
			if strings.HasPrefix(name, "spring.profiles") || strings.HasPrefix(name, "spring.config") || name == platformKey {
				return
			}
			before.places, after.places = nil, nil
			if reflect.DeepEqual(before, after) {
				t.Errorf("%s=%s changes nothing", name, other(k))
			}
		})
	}
}

// secureCompany is what a key of TLS cannot be without.
func secureCompany(name string) []string {
	prefix, _, found := strings.Cut(name, ".ssl.")
	if !found || strings.HasPrefix(name, "eureka.") || strings.HasPrefix(name, "zuul.") || strings.HasPrefix(name, "management.health.") {
		return nil
	}
	section := prefix + ".ssl."
	switch {
	case strings.HasPrefix(name, "gateway.ssl.certificates."):
		section = "gateway.ssl.certificates.myname."
	case prefix == "gateway":
		section = "server.ssl."
	}
	company := []string{section + "certificate=a.crt", section + "certificate-private-key=a.key"}
	if section != "gateway.ssl.certificates.myname." {
		company = append(company, section+"trust-certificate=ca.crt")
	}
	return company
}

// other gives a value of the type of a key that is not its default.
func other(k Key) string {
	switch {
	case k.Type == "bool" && strings.Contains(k.Default, "true"):
		return "false"
	case k.Type == "bool":
		return "true"
	case strings.HasPrefix(k.Type, "share"):
		return "0.217"
	case k.Name == "management.server.token":
		return "a-token-of-management"
	case strings.HasSuffix(k.Name, "forwarded-by"):
		return "_edge"
	case strings.HasSuffix(k.Name, "grpc-status"):
		return "UNAVAILABLE"
	case strings.HasSuffix(k.Name, "enabled-protocols"):
		return "TLSv1.3"
	case strings.HasSuffix(k.Name, ".ciphers"):
		return "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
	case strings.HasSuffix(k.Name, "hash-on"):
		return "path"
	case strings.Contains(k.Type, ", ") && !strings.HasPrefix(k.Type, "duration"):
		for option := range strings.SplitSeq(k.Type, ", ") {
			if option != k.Default && option != "SEMAPHORE" {
				return option
			}
		}
	case strings.HasSuffix(k.Name, "max-frame-size"), strings.HasSuffix(k.Name, "-window"):
		return "99KB"
	case strings.HasSuffix(k.Name, "failure-status"):
		return "5xx"
	case strings.HasSuffix(k.Name, "hedge.max"):
		return "3"
	case strings.HasSuffix(k.Name, "adaptive-limit.min"):
		return "10"
	case strings.HasSuffix(k.Name, "adaptive-limit.initial"):
		return "50"
	case strings.HasSuffix(k.Name, "Percentage"), strings.HasSuffix(k.Name, "percentage"):
		return "21"
	case strings.Contains(k.Name, ".metrics.rolling") && strings.Contains(k.Name, ".num"):
		return "5"
	case strings.Contains(k.Name, ".metrics.rolling"):
		return "30000"
	case strings.HasSuffix(k.Type, "from 0 to 1"):
		return "0.5"
	case strings.Contains(k.Type, "region;url"):
		return "east;http://localhost"
	case k.Type == "URL":
		return "http://localhost"
	case k.Type == "list of formats":
		return "B3"
	case strings.Contains(k.Type, "CIDR"):
		return "10.0.0.0/8"
	case strings.Contains(k.Name, ".url"), strings.Contains(k.Name, "service-url"):
		return "http://localhost"
	case k.Name == "zuul.routes.<id>", strings.HasSuffix(k.Name, "path"), strings.HasSuffix(k.Name, "prefix"):
		return "/seven"
	}
	return "217"
}

// TestVariables keeps environment variables unambiguous: no two keys without variables
// may have the same one.
func TestVariables(t *testing.T) {
	owner := map[string]string{}
	for _, k := range newCatalog().keys {
		if k.set == nil || k.variables() > 0 {
			continue
		}
		variable := squeezed(k.Name)
		if other, taken := owner[variable]; taken {
			t.Errorf("%s and %s are the same variable", k.Name, other)
		}
		owner[variable] = k.Name
	}
}
