// Not a module, because browsers load modules from servers only: marks a page that was opened as a file, for the style sheet.
document.documentElement.classList.toggle("is-file", location.protocol === "file:");
