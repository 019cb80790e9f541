import { it } from 'vitest';
import { realCore } from '../support/core/core.ts';
import { runSeeds } from './seeds.ts';
it('x', { timeout: 600000 }, () => { const r = runSeeds(realCore, 1, { count: 14000 }); console.log('FAILED', r.failed.length, JSON.stringify(r.failed.map((f) => [f.seed, f.violations[0]?.rule]))); });
