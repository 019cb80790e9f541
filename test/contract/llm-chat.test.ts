import { chatDialect } from './chat-dialect.ts';
import { describeLlm } from './llm-suite.ts';

describeLlm(chatDialect);
