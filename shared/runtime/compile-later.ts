/**
 * V8 of Node 20 compiles a function with its best compiler after little use: for a service with one call that is a third of the work, done for functions
 * that then hardly run. A function must have run longer first. Later releases of Node have a quick compiler in between, and no such limit
 * (docs/decisions/0191-compile-later.md).
 */
import { setFlagsFromString } from 'node:v8';

/** Bytes of bytecode that a function runs before V8 thinks of it, nine times V8's own. */
const budget = 600_000;

if (process.versions.node.startsWith('20.')) setFlagsFromString(`--interrupt-budget=${budget}`);
