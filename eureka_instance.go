package gozer

import (
	"cmp"
	"maps"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/internal/machine"
)

// ownInstance is what the gateway registers as: the settings of eureka.instance, filled
// in as Spring does (spec/eureka.md 3.1 and 3.3) from the listeners.
func ownInstance(cfg *config.Config, servers []*server) *eureka.Instance {
	proxy, management := addresses(servers)
	return describe(cfg, portOf(proxy), portOf(management))
}

func portOf(a net.Addr) int {
	if a == nil {
		return 0
	}
	_, port, _ := net.SplitHostPort(a.String())
	n, _ := strconv.Atoi(port)
	return n
}

// describe makes the instance of a gateway with these ports; a management port of 0
// means that there is none.
func describe(cfg *config.Config, proxy, management int) *eureka.Instance {
	s := cfg.Eureka.Instance
	name := ownName(cfg)
	host, ip := ownAddress(cfg)
	status, _ := eureka.ParseStatus(s.InitialStatus)
	i := &eureka.Instance{
		App: strings.ToUpper(name), AppGroup: strings.ToUpper(s.AppGroup),
		HostName: host, IPAddr: ip,
		VIPAddress: cmp.Or(s.VirtualHostName, name), SecureVIPAddress: cmp.Or(s.SecureVirtualHostName, name),
		Port:       eureka.Port{Number: cmp.Or(s.Port, proxy), Enabled: s.PortEnabled},
		SecurePort: eureka.Port{Number: s.SecurePort, Enabled: s.SecurePortEnabled},
		CountryID:  eureka.DefaultCountryID,
		DataCenter: eureka.DataCenter{Name: eureka.MyOwn},
		Lease:      eureka.Lease{RenewalInterval: s.RenewalInterval, Duration: s.LeaseDuration},
		Metadata:   maps.Clone(s.Metadata),
		Status:     status,
		ASGName:    s.ASGName,
	}
	i.ID = ownID(s, host, name, i.Port.Number)
	addPages(i, cfg, management)
	return i
}

// ownID is the id that is set, else the one of the metadata, else the usual one.
func ownID(s config.EurekaInstance, host, name string, port int) string {
	return cmp.Or(s.InstanceID, strings.TrimSpace(s.Metadata["instanceId"]), host+":"+name+":"+strconv.Itoa(port))
}

// addPages fills in the URLs. Those of the management endpoints are left out when no
// other machine could open them.
func addPages(i *eureka.Instance, cfg *config.Config, management int) {
	s := cfg.Eureka.Instance
	at := func(port int, path string) string {
		u := url.URL{Scheme: "http", Host: net.JoinHostPort(i.HostName, strconv.Itoa(port)), Path: "/" + strings.TrimPrefix(path, "/")}
		return u.String()
	}
	i.HomePageURL = cmp.Or(s.HomePage, at(i.Port.Number, s.HomePagePath))
	i.StatusPageURL, i.HealthCheckURL, i.SecureHealthCheckURL = s.StatusPage, s.Health, s.SecureHealth
	if management == 0 || local(cfg.Management.Address) && !local(i.HostName) {
		return
	}
	base := strings.TrimSuffix(cfg.Management.BasePath, "/")
	health := cmp.Or(s.HealthPath, base+"/health")
	i.StatusPageURL = cmp.Or(i.StatusPageURL, at(management, cmp.Or(s.StatusPagePath, base+"/info")))
	if i.Port.Enabled {
		i.HealthCheckURL = cmp.Or(i.HealthCheckURL, at(management, health))
	}
	if _, written := i.Metadata["management.port"]; !written {
		i.Metadata["management.port"] = strconv.Itoa(management)
	}
}

// local tells whether only this machine knows an address.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ownAddress is the host and the address under which others reach the gateway.
func ownAddress(cfg *config.Config) (host, ip string) {
	s := cfg.Eureka.Instance
	host, ip = s.HostName, s.IPAddress
	if ip == "" {
		ip = machine.Address()
	}
	if s.PreferIPAddress {
		return ip, ip
	}
	if host == "" {
		host = machine.Hostname()
	}
	return host, ip
}
