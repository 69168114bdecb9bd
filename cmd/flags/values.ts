import { InvalidArgumentError } from 'commander'
import { placesOf } from '../../framework/net/targets.ts'
import { parseDuration } from '../../framework/request/duration.ts'

/** The value of a flag that may be given again: a host name, an address or a network. */
export function places(text: string, before: readonly string[] = []): readonly string[] {
  try {
    placesOf([text])
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`)
  }
  return [...before, text]
}

/** `5m`, `30s`: Go's way, in milliseconds. */
export function duration(text: string): number {
  try {
    return parseDuration(text)
  } catch {
    throw new InvalidArgumentError('A duration looks like 5m or 30s.')
  }
}

export function count(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Say a number, 0 or more.')
  return Number(text)
}

export function truth(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('Say true or false.')
  return text === 'true'
}

export const textList = (text: string): readonly string[] => text.split(',').filter(part => part !== '')
