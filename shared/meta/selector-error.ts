import { StatusError } from '../errors/status-error';

/** A selector text or object that cannot be understood: 400 BadRequest. */
export class SelectorError extends StatusError {
  constructor(message: string) {
    super('BadRequest', message);
    this.name = 'SelectorError';
  }
}
