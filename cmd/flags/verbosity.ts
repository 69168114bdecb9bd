import { InvalidArgumentError, type Option } from 'commander'
import { commonOption } from './values.ts'

/** klog's flag `-v`, also in the form `-v=4`. */
export const verbosityOption = (): Option =>
  commonOption(
    '-v, --v <level>',
    'log verbosity, 0 to 10: 2 logs messages of level info, 4 of level debug',
  ).argParser(verbosity)

function verbosity(text: string): number {
  const level = Number(text.replace(/^=/, ''))
  if (!Number.isInteger(level) || level < 0) throw new InvalidArgumentError('Give a number from 0 to 10.')
  return level
}
