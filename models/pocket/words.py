"""The words that scenes are made of. Ours, lower case, ASCII."""

COLOURS = "red blue green yellow white black gray brown orange pink purple".split()
LOOKS = "small large medium old new round flat tall long short clean dirty wooden metal glass striped heavy light".split()

FOOD = ("apple banana bread donut orange syrup carrot onion tomato potato pepper lemon cheese butter egg sausage cookie cake "
        "pear melon grape corn bean mushroom steak fish ham pie bun rice oat honey sugar salt tea").split()
ITEMS = ("pliers screwdriver hammer wrench brush pen pencil ruler book letter candle clock phone key coin ball doll toy "
         "soap towel comb razor bottle can carton packet fork knife spoon ladle whisk block brick cube cylinder magnet "
         "battery rope glove hat shoe sock stapler marker eraser cup mug glass").split()
COMPOUND_ITEMS = ["milk_carton", "tuna_can", "soup_can", "juice_bottle", "tea_bag", "paper_roll", "salt_shaker", "glue_stick",
                  "toy_car", "oat_bar", "egg_timer", "tape_roll"]
PLATES = "plate tray saucer board lid book block brick tile slab mat".split()  # graspable surfaces
POTS = "pot bowl pan basket bucket cup mug kettle vase crate".split()  # graspable containers without a lid
BOXES = "box jar tin case chest bag casket carton pouch trunk".split()  # graspable containers with a lid
CABINETS = ("dishwasher fridge cabinet drawer shelf oven cupboard locker freezer canister safe wardrobe microwave "
            "hatch closet").split()  # they stay where they are
BINS = "sink bin rack hamper trough".split()  # open containers that stay where they are
SURFACES = "stool bench desk counter chair sofa ledge stand windowsill cart".split()
STOVES = "stove hotplate burner grill heater".split()  # surfaces with a switch
DEVICES = "lamp radio fan television printer toaster computer".split()  # a switch and nothing else
SPRAYERS = ["spray_bottle", "sprayer", "foam_can", "soap_bottle", "mister"]
CLOTHS = ["rag", "cloth", "sponge", "towel", "wipe"]
WATERS = ["cup_of_water", "water_bowl", "bucket_of_water", "water_jug", "basin"]

ROOMS = "kitchen hall office bedroom attic cellar garage library studio porch lobby storeroom".split()
SEEDS = "bean pea corn radish carrot tulip daisy clover onion pumpkin".split()
DISHES = "plate bowl dish tray platter cup".split()

ONSETS = "b br d dr f fl g gl gr h j k kr l m n p pl pr r s st t tr v w z".split()
VOWELS = "a e i o u ai oo".split()
CODAS = ["", "", "", "n", "m", "l", "r", "k", "x", "sh"]
