/** The limits of a call as a service has them whose operator has set none. */
import { parseServerSettings } from '../../shared/config/server/server.ts';
import { callLimits } from '../../supervisor/service/call-limits.ts';

const read = parseServerSettings({ SVC_AGENT_FILE: 'agent.toml' }, { cores: 1 });
if (!read.ok) throw new Error('a service starts with an agent file alone');

export const usualCallLimits = callLimits(read.value.settings);
