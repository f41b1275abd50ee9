/** The abort reason of a request whose client stopped reading. */
export class SlowReaderError extends Error {
  constructor() {
    super('the client does not take what is sent to it');
    this.name = 'SlowReaderError';
  }
}
