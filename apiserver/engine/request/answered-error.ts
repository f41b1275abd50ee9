import type { Status, StatusReason } from '../../../shared/errors/status-error';
import { StatusError } from '../../../shared/errors/status-error';
import type { Answer } from './exchange';

/** Characters of a longer message that logs and audit get. */
const MESSAGE_CHARS_MAX = 1_000;

/** An error whose answer is already encoded, because it is too large for the event loop. */
export class AnsweredError extends StatusError {
  readonly answer: Answer;

  constructor(answer: Answer, { reason, message, code }: ShortStatus, cause?: unknown) {
    super(reason as StatusReason | '', message, { code, cause });
    this.answer = answer;
  }
}

/** The summary of a Status that is too large. */
export interface ShortStatus {
  readonly reason: string;
  readonly message: string;
  readonly code: number;
}

export function shortened({ reason = '', message = '', code }: Status): ShortStatus {
  return { reason, message: `${message.slice(0, MESSAGE_CHARS_MAX)}…`, code };
}
