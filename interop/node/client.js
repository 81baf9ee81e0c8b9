// A service of the npm client: it registers, and prints what it finds, one line of JSON a second.
'use strict';

const { Eureka } = require('eureka-js-client');

const [host, port, path] = process.argv.slice(2);
const quiet = { debug() {}, info() {}, warn: console.error, error: console.error };
const client = new Eureka({
  logger: quiet,
  instance: {
    instanceId: 'node-1',
    app: 'cart',
    hostName: '127.0.0.1',
    ipAddr: '127.0.0.1',
    port: { $: 4711, '@enabled': true },
    vipAddress: 'cart',
    dataCenterInfo: { '@class': 'com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo', name: 'MyOwn' },
  },
  eureka: {
    host,
    port: Number(port),
    servicePath: path,
    heartbeatInterval: 1000,
    registryFetchInterval: 1000,
    fetchRegistry: true,
    maxRetries: 3,
    requestRetryDelay: 200,
    shouldUseDelta: true,
  },
});

client.start((error) => {
  if (error) {
    console.error(error);
    process.exit(1);
  }
  setInterval(() => {
    const found = {};
    for (const app of ['USERS', 'GATEWAY', 'CART']) {
      found[app] = client.getInstancesByAppId(app).map((i) => i.instanceId);
    }
    console.log(JSON.stringify(found));
  }, 1000);
});

process.on('SIGTERM', () => client.stop(() => process.exit(0)));
