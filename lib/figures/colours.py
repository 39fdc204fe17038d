"""The book's colours by name, for learners and for whatever else a chapter draws."""

# From the palettes of Okabe & Ito and of Tol for colour-blind readers, each as dark as lines and
# marks on a white page ask for (contrast 3).
LINE_COLOURS = {
    "blue": "#0072B2",
    "sky blue": "#309BD6",
    "vermillion": "#D55E00",
    "green": "#009E73",
    "pink": "#CC79A7",
    "ochre": "#C48600",
    "grey": "#7F7F7F",
    "indigo": "#332288",
    "wine": "#882255",
    "purple": "#AA4499",
    "rose": "#CC6677",
    "brown": "#7A4F12",
    "olive": "#999933",
    "dark green": "#117733",
    "teal": "#2A8C9E",
    "jade": "#35998A",
}
# For areas and large marks, which stand out without that contrast.
AREA_COLOURS = {
    "light blue": "#56B4E9",
    "orange": "#E69F00",
    "yellow": "#F0C94F",
    "mint": "#7FC8A9",
    "cream": "#FFFFD9",
    "pale blue": "#DCEBF7",
    "pale orange": "#FBE5D0",
    "pale green": "#CFEADF",
    "dark red": "#8C1C13",
    "navy": "#0B3C6F",
}
# For lines of reference, bars of error, grids and backgrounds, the darkest first.
GREYS = {
    "charcoal": "#333333",
    "reference grey": "#8C8C8C",
    "silver": "#BBBBBB",
    "grid grey": "#DDDDDD",
    "background grey": "#EEEEEE",
    "near white": "#FCFCFC",
}
COLOURS = LINE_COLOURS | AREA_COLOURS | GREYS
