import type { Status, StatusReason } from '../../../shared/errors/status-error';
import { StatusError } from '../../../shared/errors/status-error';
import type { Answer } from './exchange';

/** What everybody but the client is told of a message that is longer. */
const MESSAGE_CHARS_MAX = 1_000;

/** An error whose answer is ready, because it is too long to be written by the loop that serves everybody. */
export class AnsweredError extends StatusError {
  readonly answer: Answer;

  constructor(answer: Answer, { reason, message, code }: ShortStatus, cause?: unknown) {
    super(reason as StatusReason | '', message, { code, cause });
    this.answer = answer;
  }
}

/** What is said of a Status that is too long. */
export interface ShortStatus {
  readonly reason: string;
  readonly message: string;
  readonly code: number;
}

export function shortened({ reason = '', message = '', code }: Status): ShortStatus {
  return { reason, message: `${message.slice(0, MESSAGE_CHARS_MAX)}…`, code };
}
