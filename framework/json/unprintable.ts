/**
 * Characters that JSON may have unescaped, and that mislead who reads it: DEL and the C1 controls, which terminals execute, the
 * line ends of Unicode, and controls of the direction of text.
 */
const misleading = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** The same JSON with these characters escaped; a text without them is returned as it is. */
export const escapeMisleading = (text: string): string =>
  text.replace(misleading, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
