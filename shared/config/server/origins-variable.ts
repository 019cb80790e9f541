/** The server variable of the web pages that may open calls. Part of the list in `server.ts`. */
import { originsForm, parseOrigins, type AllowedOrigins } from '../../net/origin.ts';
import { readVariable } from './variables.ts';

export const originsVariable = readVariable<AllowedOrigins | undefined>(
  'SVC_WS_ORIGINS',
  'Origins of web pages that may open calls besides those of the host that is asked; clients without an Origin are no pages.',
  {
    form: originsForm,
    defaultText: 'none on a loopback address without authentication, else *',
    read: parseOrigins,
    fallback: undefined,
  },
);
