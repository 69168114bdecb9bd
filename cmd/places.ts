import { InvalidArgumentError } from 'commander'
import { placesOf } from '../framework/targets.ts'

/** The value of a flag that may be given again: a host name, an address or a network. */
export function places(text: string, before: readonly string[] = []): readonly string[] {
  try {
    placesOf([text])
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`)
  }
  return [...before, text]
}
