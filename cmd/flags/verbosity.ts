import type { Option } from 'commander'
import { commonOption, count } from './values.ts'

/** klog's flag `-v`, also in the form `-v=4`. */
export const verbosityOption = (): Option =>
  commonOption(
    '-v, --v <level>',
    'log verbosity, 0 to 10: 2 logs messages of level info, 4 of level debug',
  ).argParser(verbosity)

const verbosity = (text: string): number => count(text.replace(/^=/, ''))
