/** The client took nothing for too long, or the unread answers of its user, or of all users, were too many bytes. */
export type SlowReaderCause = 'stalled' | 'memory';

/** The abort reason of a request whose client stopped reading. */
export class SlowReaderError extends Error {
  readonly readerCause: SlowReaderCause;

  constructor(cause: SlowReaderCause = 'stalled') {
    super('the client does not take what is sent to it');
    this.name = 'SlowReaderError';
    this.readerCause = cause;
  }
}
