/** The server variables of the web pages that may open calls. Part of the list in `server.ts`. */
import { originsForm, parseOrigins, type AllowedOrigins } from '../../net/origin.ts';
import { readVariable, type Name, type Variable } from './variables.ts';

export const originsVariable = (
  name: Name,
  text: string,
  defaultText = 'none on a loopback address without authentication, else *',
): Variable<AllowedOrigins | undefined> =>
  readVariable<AllowedOrigins | undefined>(name, text, {
    form: originsForm,
    defaultText,
    read: parseOrigins,
    fallback: undefined,
  });
