/** Reasons that are ours and not of the recording's format. Stable: people and programs go by them. */
export const setAsideCode = "EndsAgent";
export const partlyListedCode = "PartlyListed";
