/** The listener of probes and metrics (docs/operate/runbook.md). */
import { openHealthListener } from '../service/health.ts';
import type { Listener } from './listener.ts';

export const healthListener: Listener = {
  name: 'health',
  variable: 'SVC_HEALTH_ADDR',
  isWanted: () => true,
  open: ({ settings, health }, { given, isLeaving }) =>
    openHealthListener({
      addr: settings.health.addr,
      ...(given !== undefined && { given }),
      metrics: settings.health.metrics,
      metricsToken: settings.health.metricsToken?.reveal(),
      liveToken: settings.health.liveToken?.reveal(),
      ...health,
      unready: () => (isLeaving() ? undefined : health.unready()),
      isLeaving,
    }),
};
