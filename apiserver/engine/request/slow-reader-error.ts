/** The reason with which a request is given up whose client does not take what is sent to it. */
export class SlowReaderError extends Error {
  constructor() {
    super('the client does not take what is sent to it');
    this.name = 'SlowReaderError';
  }
}
