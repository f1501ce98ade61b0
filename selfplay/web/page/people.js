// Which seats of a match people hold. Addresses, requests and answers name them by one word.

const SEATS = { first: [0], second: [1], both: [0, 1], none: [] };

export const TWO_PEOPLE = "both";

// The word if it is one of them; otherwise that of one person who moves first.
export const asPeople = (word) => (Object.hasOwn(SEATS, word) ? word : "first");

// The questions below take the word; an undefined one, of a match that does not exist, is answered with false.
const count = (people) => SEATS[people]?.length;

export const areWatching = (people) => count(people) === 0;
export const isOnePerson = (people) => count(people) === 1;
export const areTwoPeople = (people) => count(people) === 2;
