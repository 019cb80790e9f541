// Loaded into the processes of a service under test: says every host that they look up or connect to by Node's own means, each on a
// line of the log. Native code goes past this; test/support/process/watched-sockets.ts sees it.
import dns from 'node:dns';
import { writeSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';

const report = (host) => writeSync(1, `${JSON.stringify({ msg: 'host that was reached for', host })}\n`);

for (const resolver of [dns, dns.promises]) {
  const { lookup } = resolver;
  resolver.lookup = (host, ...rest) => {
    report(host);
    return lookup(host, ...rest);
  };
}
syncBuiltinESMExports();

const { connect } = Socket.prototype;
Socket.prototype.connect = function (...args) {
  // Node's own callers hand over a list of arguments that was put into order before.
  const [target, host] = Array.isArray(args[0]) ? args[0] : args;
  const isPath = typeof target === 'object' ? target.path !== undefined : Number.isNaN(Number(target));
  if (!isPath) report((typeof target === 'object' ? target.host : host) ?? 'localhost');
  return connect.apply(this, args);
};
