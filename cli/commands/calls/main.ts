/** The commands `calls`, in a file of its own: a service loads nothing of it, and other commands load no database. */
import '../../../shared/runtime/stack.ts';
export { runCalls } from './calls-command.ts';
