/** Orders of the core in words, for scripts and traces. */
import type { Order } from './order.ts';

/** An order in one short line. */
export function shown(order: Order): string {
  switch (order.type) {
    case 'llm.start':
      return `llm.start ${order.epoch}`;
    case 'tts.speak':
      return `${order.recorded === true ? 'announce' : 'tts.speak'} ${order.context} "${order.text}"`;
    case 'tts.prepare':
      return `tts.prepare "${order.text}"`;
    case 'tts.flush':
    case 'tts.cancel':
    case 'playout.open':
    case 'playout.finish':
      return `${order.type} ${order.context}`;
    case 'playout.clear':
      return `playout.clear ${order.epoch}${order.wire ? '' : ' unheard'}`;
    case 'playout.murmur':
      return `playout.murmur ${order.text}`;
    case 'playout.mark':
      return `playout.mark ${order.id}`;
    case 'call.end':
      return `call.end ${order.reason}`;
    case 'command.answered': {
      const { id, command, outcome } = order;
      const code = outcome.kind === 'refused' ? ` ${outcome.code}` : '';
      return `${id ?? command} ${outcome.kind}${code}`;
    }
    case 'operator.handed_back':
      return `operator.handed_back ${order.how}`;
    case 'fault.noticed':
      return `fault ${order.stage} ${order.what}`;
    default:
      return order.type;
  }
}
