import type { Answer, Exchange } from '../request/exchange';
import type { VerbContext } from './context';
import type { Target } from './target';

/** Handles one verb for a target. */
export type Verb = (context: VerbContext, exchange: Exchange, target: Target) => Promise<Answer>;
