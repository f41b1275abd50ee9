import { StatusError } from '../errors/status-error';

/** Thrown for an invalid selector text or object: 400 BadRequest. */
export class SelectorError extends StatusError {
  constructor(message: string) {
    super('BadRequest', message);
    this.name = 'SelectorError';
  }
}
